/*
 * guard.h: --guard, its state, and what others tell it. The functions that
 * stand before the allocator's are in hooks_guard.c; what lies around a block
 * is guard_block.h's.
 */
#ifndef GNOMON_GUARD_H
#define GNOMON_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/guard/guard_block.h"

struct recorder;

/*
 * What a reader of a core dump has to know of all blocks; found by its first
 * bytes. The address is of the live mapping (struct gl_header), in which the
 * contexts are: while blocks are guarded that is private memory, and part of a
 * core. 0: nothing was recorded (yet).
 */
struct guard_mark {
	char magic[16];		/* GUARD_MARK */
	uint32_t bytes;		/* of this struct */
	uint32_t forks;		/* as in a header, of blocks of `live` */
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

/* Set by the constructor (hooks_guard.c), then constant but for `mark` and what
 * follows it. */
struct guard {
	bool on;
	struct guard_shape shape;
	struct guard_mark mark;
	/* somebody looks at all blocks, who are anybody's (guard_end.c): before
	 * one of them changes, the count of its place goes up */
	_Atomic uint32_t watched;
	_Atomic uint32_t moves[GUARD_MOVES];
};
extern BASE_HIDDEN struct guard guard;

static inline _Atomic uint32_t *guard_moves_of(_Atomic uint32_t *moves,
					       uintptr_t block)
{
	return &moves[block / GUARD_ALIGN % GUARD_MOVES];
}

/* A live block is about to end, or to be named: who finds the count as it was
 * before a look has seen nothing of that (I2 of guard_sweep.c). */
static inline void guard_moves(uintptr_t block)
{
	if (unlikely(atomic_load_explicit(&guard.watched,
					  memory_order_relaxed)))
		atomic_fetch_add_explicit(guard_moves_of(guard.moves, block),
					  1, memory_order_seq_cst);
}

/* Turns it on if the options say so (hooks_guard.c). The constructor, once
 * options are read and all wrappers are in place. */
void hooks_guard(void);

/* Turns it on: zones of so many bytes. Once, by the constructor. */
void guard_begin(uint32_t zone);

/* The recorder has started, perhaps in a forked child. */
void guard_recorded(struct recorder *r, bool forked);

/*
 * The process is about to end, and of its threads only the calling one is known
 * to do nothing else: looks at all blocks that live, and leaves damages as
 * events of this thread. Once. *steps goes up meanwhile. Also in signal
 * handlers; keeps errno. (guard_end.c)
 */
void guard_end(struct recorder *r, _Atomic uint32_t *steps);

#endif
