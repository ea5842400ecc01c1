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

#include "preload/base.h"
#include "preload/guard_block.h"

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

/* Set by the constructor (hooks_guard.c), then constant but for `mark`. */
struct guard {
	bool on;
	struct guard_shape shape;
	struct guard_mark mark;
};
extern BASE_HIDDEN struct guard guard;

/* Turns it on: zones of so many bytes. Once, by the constructor. */
void guard_begin(uint32_t zone);

/* The recorder has started, perhaps in a forked child. */
void guard_recorded(struct recorder *r, bool forked);

/* A block was recorded with this context. Whoever got it from the allocator,
 * before the program has it. It may be one that is not guarded. */
void guard_note(uintptr_t block, uint32_t context);

#endif
