/*
 * pending_reallocs.h: pending reallocs by address: the lane in whose realloc a
 * block is. The address of the block may be allocated again before the lane
 * records the end of its realloc. There may be thousands of lanes.
 */
#ifndef GNOMON_PENDING_REALLOCS_H
#define GNOMON_PENDING_REALLOCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PENDING_REALLOCS_NONE UINT32_MAX

/* A zeroed struct is empty. */
struct pending_reallocs {
	struct pending_reallocs_lane {
		uint64_t address;
		uint32_t next;	/* lane + 1 in the same bucket; 0: the last */
	} *lanes;
	uint32_t *buckets;	/* by the address's hash, lane + 1; 0: none */
	unsigned bits;		/* log2 of the count of lanes and of buckets */
};

/* Makes room for the lane. False: no memory. */
bool pending_reallocs_reach(struct pending_reallocs *pending_reallocs,
			    uint32_t lane);
/* pending_reallocs_reach was called for the lane. A lane has one address at a
 * time, an address has one lane. */
void pending_reallocs_add(struct pending_reallocs *pending_reallocs,
			  uint32_t lane, uint64_t address);
/* The lane was added and not removed since. */
void pending_reallocs_remove(struct pending_reallocs *pending_reallocs,
			     uint32_t lane);
/* The lane, or PENDING_REALLOCS_NONE. */
uint32_t pending_reallocs_find(const struct pending_reallocs *pending_reallocs,
			       uint64_t address);
void pending_reallocs_free(struct pending_reallocs *pending_reallocs);

/* Each lane is in its address's bucket, and in no other. With
 * GNOMON_DEBUG_ASSERTS. */
bool pending_reallocs_is_valid(const struct pending_reallocs *pending_reallocs);

#endif
