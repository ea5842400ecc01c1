/*
 * recent.h: addresses that an EVENTS chunk told a short while ago, for column
 * 0 (trace_format.h): who writes it finds an address, who reads it has the
 * list. One thread for each finder and list.
 *
 * There are two lists: of blocks that began (ALLOC, REALLOC_DONE), and of all
 * other events. A block ends that began not long ago, and begins where another
 * one ended: so an event's address is looked for in the list that it does not
 * enter. A list has the last GT_RECENT addresses of the chunk; an age of 1 means
 * the last one.
 *
 * The finder has one slot for the addresses of each hash, and forgets what
 * another one displaces: what it does not find is told in full. So it takes one
 * cache line an event.
 *
 * I1: what a slot says is of the chunk at hand if its number is not below the
 *     list's first; numbers grow from chunk to chunk.
 */
#ifndef GNOMON_RECENT_H
#define GNOMON_RECENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/trace/trace_format.h"
#include "unwind/claim.h"

#define RECENT_HASH_BITS 11	/* 48 KiB: more is found, and waited for */
#define RECENT_COUNT_MAX (UINT32_C(1) << 31)	/* then it begins anew */

#define RECENT_LISTS 2

/* Whether an event of this kind is of the list of blocks that began. */
static inline bool recent_begins(unsigned kind)
{
	return (1u << GT_ALLOC | 1u << GT_REALLOC_DONE) >> kind & 1;
}

struct recent_slot {
	uint64_t begun, other;		/* addresses */
	uint32_t begun_at, other_at;	/* I1 */
};

/* Zero it first. */
struct recent_finder {
	struct recent_slot slot[1 << RECENT_HASH_BITS];
	uint32_t begun_count, other_count;
};

/* Where a chunk is. Apart, so that it may stay in registers. */
struct recent_place {
	uint64_t begun, other;		/* the last addresses; 0: none yet */
	uint32_t begun_count, other_count;
	uint32_t begun_first, other_first;	/* of the chunk */
};

static inline struct recent_place recent_begin(struct recent_finder *finder)
{
	if (finder->begun_count >= RECENT_COUNT_MAX ||
	    finder->other_count >= RECENT_COUNT_MAX)
		memset(finder, 0, sizeof(*finder));
	/* behind what slots that were never used say */
	finder->begun_count++;
	finder->other_count++;
	return (struct recent_place){
		.begun_count = finder->begun_count,
		.other_count = finder->other_count,
		.begun_first = finder->begun_count,
		.other_first = finder->other_count,
	};
}

static inline void recent_end(struct recent_finder *finder,
			      const struct recent_place *place)
{
	finder->begun_count = place->begun_count;
	finder->other_count = place->other_count;
}

/* The age of an address, 0 if it is not found. It enters its list. */
static inline uint32_t recent_age(struct recent_finder *finder,
				  struct recent_place *place, bool begins,
				  uint64_t address)
{
	uint64_t hash = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	struct recent_slot *slot =
		&finder->slot[hash >> (64 - RECENT_HASH_BITS)];
	uint32_t count = begins ? place->other_count : place->begun_count;
	uint32_t first = begins ? place->other_first : place->begun_first;
	uint32_t age = count - (begins ? slot->other_at : slot->begun_at);
	uint64_t found = begins ? slot->other : slot->begun;

	if (begins) {
		slot->begun = place->begun = address;
		slot->begun_at = place->begun_count++;
	} else {
		slot->other = place->other = address;
		slot->other_at = place->other_count++;
	}
	return found == address && age <= count - first && age <= GT_RECENT ?
		       age : 0;
}

#endif
