/*
 * recent.h: the recent addresses of an EVENTS chunk, which column 0 refers to
 * by age (trace_format.h). The writer finds an address with a finder, the
 * reader keeps the lists. One thread for each finder and list.
 *
 * There are two lists: of blocks that began (ALLOC, REALLOC_DONE), and of all
 * other events. Most blocks that end began recently, and most new blocks reuse
 * the address of one that ended. So an event's address is searched in the list
 * that it does not enter. A list has the last GT_RECENT addresses of the chunk;
 * age 1 is the last one.
 *
 * The finder has one slot for each hash value; a new address displaces the old
 * one. An address that is not found is written in full. So an event touches one
 * cache line.
 *
 * I1: numbers grow from chunk to chunk, by so much that a slot filled in an
 *     earlier chunk is older than any age.
 */
#ifndef GNOMON_RECENT_H
#define GNOMON_RECENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

#define RECENT_HASH_BITS 11	/* 48 KiB: more finds more, but misses the
				 * cache */
#define RECENT_COUNT_MAX (UINT32_C(1) << 31)	/* then the finder is cleared */

#define RECENT_LISTS 2

/* Whether an event of this kind enters the list of blocks that began. */
static inline bool recent_begins(unsigned kind)
{
	return (1u << GT_ALLOC | 1u << GT_REALLOC_DONE) >> kind & 1;
}

/* By list; 1: blocks that began. */
struct recent_slot {
	uint64_t address[RECENT_LISTS];
	uint32_t at[RECENT_LISTS];	/* their numbers, I1 */
};

/* Zero it first. */
struct recent_finder {
	struct recent_slot slot[1 << RECENT_HASH_BITS];
	uint32_t count[RECENT_LISTS];
};

/* The numbers of the next addresses in a chunk. A struct of its own, so that
 * they may stay in registers. */
struct recent_place {
	uint32_t count[RECENT_LISTS];
};

static inline struct recent_place recent_begin(struct recent_finder *finder)
{
	unsigned list;

	if (finder->count[0] >= RECENT_COUNT_MAX ||
	    finder->count[1] >= RECENT_COUNT_MAX)
		memset(finder, 0, sizeof(*finder));
	/* I1; also of slots that were never used */
	for (list = 0; list < RECENT_LISTS; list++)
		finder->count[list] += GT_RECENT + 1;
	return (struct recent_place){
		.count = { finder->count[0], finder->count[1] },
	};
}

static inline void recent_end(struct recent_finder *finder,
			      const struct recent_place *place)
{
	finder->count[0] = place->count[0];
	finder->count[1] = place->count[1];
}

/* The age of an address, 0 if it is not found. The address enters its list. */
static inline uint32_t recent_age(struct recent_finder *finder,
				  struct recent_place *place, bool begins,
				  uint64_t address)
{
	uint64_t hash = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	struct recent_slot *slot =
		&finder->slot[hash >> (64 - RECENT_HASH_BITS)];
	unsigned list = begins, other = list ^ 1;
	uint64_t found = slot->address[other];
	uint32_t age = place->count[other] - slot->at[other];

	DEBUG_ASSERT(age > 0);
	slot->address[list] = address;
	slot->at[list] = place->count[list]++;
	return found == address && age <= GT_RECENT ? age : 0;
}

#endif
