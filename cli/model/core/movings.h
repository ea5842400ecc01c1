/*
 * movings.h: which lane's realloc a block is in. A block's address may be
 * allocated again before the lane has told how its realloc ended; there may
 * be thousands of lanes.
 */
#ifndef GNOMON_MOVINGS_H
#define GNOMON_MOVINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOVINGS_NONE UINT32_MAX

/* A zeroed one is empty. */
struct movings {
	struct movings_lane {
		uint64_t address;
		uint32_t next;	/* lane + 1 of the same bucket; 0: the last */
	} *lanes;
	uint32_t *buckets;	/* by the address's hash, lane + 1; 0: none */
	unsigned bits;		/* log2 of how many there are of both */
};

/* Room for the lane. False: no memory. */
bool movings_reach(struct movings *movings, uint32_t lane);
/* There is room for the lane. It has one address at a time, an address one
 * lane. */
void movings_add(struct movings *movings, uint32_t lane, uint64_t address);
/* The lane was added, and not removed since. */
void movings_remove(struct movings *movings, uint32_t lane);
/* The lane, or MOVINGS_NONE. */
uint32_t movings_find(const struct movings *movings, uint64_t address);
void movings_free(struct movings *movings);

/* Each lane is in its address's bucket, and in no other. With GNOMON_CLAIMS. */
bool movings_is_valid(const struct movings *movings);

#endif
