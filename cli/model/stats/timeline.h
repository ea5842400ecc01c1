/*
 * timeline.h: how figures changed over time, in a bounded number of buckets
 * of equal width: when the recording outgrows them, two and two become one.
 *
 * Of struct model it has live blocks and bytes and what was allocated and
 * freed; of the kernel's figures, which have moments of their own
 * (footprint.h), timeline_memory gives a row for each bucket. Markers are the
 * snapshots with a name (footprint.h).
 */
#ifndef GNOMON_TIMELINE_H
#define GNOMON_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define TIMELINE_BUCKETS 2048	/* at most; at least half of them are used,
				 * unless the recording is very short */

struct footprint;

struct timeline_bucket {
	uint64_t live_bytes_max;
	uint64_t live_blocks_max;
	uint64_t live_bytes;	/* at its end */
	uint64_t live_blocks;
	uint64_t allocations;	/* within it */
	uint64_t allocated_bytes;
	uint64_t frees;
	uint64_t freed_bytes;
};

/* Sums since the start, and what is live now. */
struct timeline_sums {
	uint64_t live_bytes, live_blocks;
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;
};

struct timeline {
	struct timeline_bucket *buckets;
	size_t count;		/* none is left out between first and last */
	uint64_t start;		/* stamp: where the first bucket begins */
	unsigned shift;		/* a bucket is 1 << shift ticks wide */
	uint64_t end;		/* stamp: where the last one ends */
	struct timeline_sums before;	/* where the last one begins */
};

/* A zeroed struct timeline is empty. Close buckets up to this stamp, until
 * which nothing has changed since the last call or timeline_high; later
 * changes count to the bucket that has it, which becomes the last one. */
void timeline_advance(struct timeline *timeline, uint64_t stamp,
		      const struct timeline_sums *sums);
/* Close the last bucket: there is nothing more. */
void timeline_finish(struct timeline *timeline,
		     const struct timeline_sums *sums);
void timeline_free(struct timeline *timeline);

/* More is live than before: for the last bucket's maxima. */
static inline void timeline_high(struct timeline *timeline, uint64_t bytes,
				 uint64_t blocks)
{
	struct timeline_bucket *last;

	if (timeline->count == 0)
		return;
	last = &timeline->buckets[timeline->count - 1];
	if (bytes > last->live_bytes_max)
		last->live_bytes_max = bytes;
	if (blocks > last->live_blocks_max)
		last->live_blocks_max = blocks;
}

/* The stamp at which a bucket begins; of the one behind the last, at which
 * that ends. */
static inline uint64_t timeline_stamp(const struct timeline *timeline,
				      size_t bucket)
{
	/* of the last stamps there may be none behind the last bucket */
	if (bucket > (UINT64_MAX - timeline->start) >> timeline->shift)
		return UINT64_MAX;
	return timeline->start + ((uint64_t)bucket << timeline->shift);
}

/*
 * The kernel's figures for each bucket, by enum gt_usage_value, in bytes but
 * for counts and times: the largest that was seen in the bucket, or the last
 * one before it where none was; 0 before the first. `rows` has timeline->count
 * of them.
 */
void timeline_memory(const struct timeline *timeline,
		     const struct footprint *footprint,
		     uint64_t (*rows)[GT_USAGE_VALUES]);

/* How many buckets there are, and where the last ends (I1). With
 * GNOMON_CLAIMS. */
bool timeline_is_valid(const struct timeline *timeline);

#endif
