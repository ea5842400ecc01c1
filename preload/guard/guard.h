/*
 * guard.h: state of --guard and its interface to other files. The functions
 * that wrap the allocator are in hooks_guard.c; guard_block.h has the layout
 * around a block.
 */
#ifndef GNOMON_GUARD_H
#define GNOMON_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/guard/guard_block.h"

struct producer;

/*
 * What a reader of a core dump needs to know about all blocks; found by its
 * first bytes. `live` is the address of the live mapping (struct gl_header),
 * which holds the contexts: while blocks are guarded it is private memory, and
 * part of a core. 0: nothing was recorded (yet).
 */
struct guard_mark {
	char magic[16];		/* GUARD_MARK */
	uint32_t bytes;		/* of this struct */
	uint32_t forks;		/* as in a block's header, for contexts of
				 * `live` */
	int32_t pid;
	uint32_t zone;
	uint32_t front;
	uint32_t fill;
	uint64_t secret;
	uint64_t live;
};
#define GUARD_MARK "GNOM guard mark"

_Static_assert(sizeof(struct guard_mark) == 56, "as in docs/GUARD.md");

#define GUARD_MOVES 256u

/* Set by the constructor (hooks_guard.c), then constant except `mark` and the
 * fields after it. */
struct guard {
	bool on;
	struct guard_shape shape;
	struct guard_mark mark;
	/* not 0: a sweep of all blocks runs (guard_end.c). Each thread that
	 * changes a block first increments the block's counter in `moves` */
	_Atomic uint32_t watched;
	_Atomic uint32_t moves[GUARD_MOVES];
};
extern BASE_HIDDEN struct guard guard;

static inline _Atomic uint32_t *guard_moves_of(_Atomic uint32_t *moves,
					       uintptr_t block)
{
	return &moves[block / GUARD_ALIGN % GUARD_MOVES];
}

/* A live block is about to be freed, or to get its context. A sweep that finds
 * the counter unchanged has read a block that did not change (I2 of
 * guard_sweep.c). */
static inline void guard_moves(uintptr_t block)
{
	if (unlikely(atomic_load_explicit(&guard.watched,
					  memory_order_relaxed)))
		atomic_fetch_add_explicit(guard_moves_of(guard.moves, block),
					  1, memory_order_seq_cst);
}

/* Turns guarding on if the options say so (hooks_guard.c). Called by the
 * constructor after options are read and all wrappers are in place. */
void hooks_guard(void);

/* Turns guarding on with zones of `zone` bytes. Once, by the constructor. */
void guard_begin(uint32_t zone);

/* The recorder has started, perhaps in a forked child. */
void guard_recorded(struct producer *p, bool forked);

/*
 * Checks all live blocks when the process is about to end, and records damages
 * as events of the calling thread; other threads may still run. Once. *steps
 * counts up meanwhile. Also in signal handlers; keeps errno. (guard_end.c)
 */
void guard_end(struct producer *p, _Atomic uint32_t *steps);

#endif
