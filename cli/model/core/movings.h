/*
 * movings.h: pending reallocs by address: the lane in whose realloc a block is.
 * The address of the block may be allocated again before the lane records the
 * end of its realloc. There may be thousands of lanes.
 */
#ifndef GNOMON_MOVINGS_H
#define GNOMON_MOVINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOVINGS_NONE UINT32_MAX

/* A zeroed struct is empty. */
struct movings {
	struct movings_lane {
		uint64_t address;
		uint32_t next;	/* lane + 1 in the same bucket; 0: the last */
	} *lanes;
	uint32_t *buckets;	/* by the address's hash, lane + 1; 0: none */
	unsigned bits;		/* log2 of the count of lanes and of buckets */
};

/* Makes room for the lane. False: no memory. */
bool movings_reach(struct movings *movings, uint32_t lane);
/* movings_reach was called for the lane. A lane has one address at a time, an
 * address has one lane. */
void movings_add(struct movings *movings, uint32_t lane, uint64_t address);
/* The lane was added and not removed since. */
void movings_remove(struct movings *movings, uint32_t lane);
/* The lane, or MOVINGS_NONE. */
uint32_t movings_find(const struct movings *movings, uint64_t address);
void movings_free(struct movings *movings);

/* Each lane is in its address's bucket, and in no other. With GNOMON_CLAIMS. */
bool movings_is_valid(const struct movings *movings);

#endif
