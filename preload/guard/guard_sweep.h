/*
 * guard_sweep.h: finds guarded blocks in memory by their marks, while other
 * threads of the program may run.
 *
 * The sweep finds every live block: also blocks that were not recorded, and
 * blocks that a forked child has from its parent. No list of blocks is kept
 * while the program runs. Any thread of the process; needs no lock and no heap,
 * and little stack.
 */
#ifndef GNOMON_GUARD_SWEEP_H
#define GNOMON_GUARD_SWEEP_H

#include <stdatomic.h>

#include "preload/guard/guard_block.h"
#include "preload/ring/shared.h"

#define GUARD_SWEEP_PART 512	/* ranges of memory at a time */

struct sweep_room;

struct guard_sweep {
	const struct guard_shape *shape;
	/* counters as in struct guard, incremented before a block changes while
	 * the owner has that switched on. NULL: there is no other thread */
	_Atomic uint32_t *moves;
	/* called for each damage */
	void (*report)(void *owner, uintptr_t block,
		       const struct guard_found *found, struct guard_harm harm);
	void *owner;
	uint64_t blocks;	/* found so far */
	uint64_t skipped;	/* bytes of memory that were not checked */
	_Atomic uint32_t *steps;	/* counts up with the sweep; or NULL */
	int pages;		/* descriptor of the kernel's page map */
	/* copies of memory; the range that the first copy covers */
	struct sweep_room *room;
	uintptr_t from, to;
};

/* Before the first guard_sweep_scan. False: a sweep is impossible, and nothing
 * is open. */
bool guard_sweep_open(struct guard_sweep *sweep);

/* Checks a range of this process's private, writable memory without a file, as
 * far as pages are present. opened: a struct guard_sweep; for
 * request_memory. */
void guard_sweep_scan(void *opened, struct gl_range range);

/* An array for GUARD_SWEEP_PART ranges, valid while the sweep is open. */
struct gl_range *guard_sweep_part(struct guard_sweep *sweep);

void guard_sweep_close(struct guard_sweep *sweep);

#endif
