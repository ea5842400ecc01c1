/*
 * guard_sweep.h: finding guarded blocks by their marks in memory, when there
 * is no program any more that could change it.
 *
 * So every live block is found: those that were not recorded, too, and those
 * that a forked child has from its parent. And nobody keeps a list of blocks
 * while the program runs. The writer, or who stands in for it in a test.
 */
#ifndef GNOMON_GUARD_SWEEP_H
#define GNOMON_GUARD_SWEEP_H

#include "preload/guard_block.h"

struct guard_sweep {
	const struct guard_shape *shape;
	/* of each damage */
	void (*tell)(void *owner, uintptr_t block,
		     const struct guard_found *found, struct guard_harm harm);
	void *owner;
	uint64_t blocks;	/* found so far */
	uint64_t skipped;	/* bytes of memory that were not looked at */
	uintptr_t page;		/* that can be read, as was found last */
};

/* Looks at the blocks whose headers, or twins, begin in [start, end): whole
 * pages that can be read. */
void guard_sweep_range(struct guard_sweep *sweep, uintptr_t start,
		       uintptr_t end);

/* Looks at all memory of this process that can hold some. */
void guard_sweep_all(struct guard_sweep *sweep);

#endif
