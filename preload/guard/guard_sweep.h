/*
 * guard_sweep.h: finding guarded blocks by their marks in memory, while other
 * threads of the program may go on.
 *
 * So every live block is found: those that were not recorded, too, and those
 * that a forked child has from its parent. And nobody keeps a list of blocks
 * while the program runs. Any thread of the process; it needs no lock and no
 * heap, and little of its stack.
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
	/* counts as in struct guard, which go up before a block changes; the
	 * owner has them kept. NULL: no other thread is there */
	_Atomic uint32_t *moves;
	/* of each damage */
	void (*tell)(void *owner, uintptr_t block,
		     const struct guard_found *found, struct guard_harm harm);
	void *owner;
	uint64_t blocks;	/* found so far */
	uint64_t skipped;	/* bytes of memory that were not looked at */
	_Atomic uint32_t *steps;	/* goes up with the sweep; NULL: not */
	int pages;		/* the kernel's map of them */
	/* copies of memory, and how much of it the first one is of */
	struct sweep_room *room;
	uintptr_t from, to;
};

/* Before the first look. False: it cannot be done, and nothing is open. */
bool guard_sweep_open(struct guard_sweep *sweep);

/* Looks at memory of this process that is private, writable and of no file, as
 * much of it as is there. opened: a struct guard_sweep; for ask_memory. */
void guard_sweep_look(void *opened, struct gl_range range);

/* Room for as many ranges, as long as the sweep is open. */
struct gl_range *guard_sweep_part(struct guard_sweep *sweep);

void guard_sweep_close(struct guard_sweep *sweep);

#endif
