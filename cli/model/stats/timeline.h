/*
 * timeline.h: measures over time, in a bounded number of buckets of equal
 * width. When the recording outgrows them, pairs of buckets are merged.
 *
 * The model fills in live blocks and bytes, allocations and frees. For the
 * kernel's counts, which have moments of their own (footprint.h),
 * timeline_memory gives a row per bucket. Markers are the snapshots with a name
 * (footprint.h).
 */
#ifndef GNOMON_TIMELINE_H
#define GNOMON_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define TIMELINE_BUCKETS 2048	/* at most; at least half are used, unless the
				 * recording is very short */

struct footprint;

struct timeline_bucket {
	uint64_t live_bytes_max;
	uint64_t live_blocks_max;
	uint64_t live_bytes;	/* at its end */
	uint64_t live_blocks;
	uint64_t allocations;	/* in this bucket */
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
	size_t count;		/* without gaps */
	uint64_t start;		/* stamp: begin of the first bucket */
	unsigned shift;		/* a bucket is 1 << shift ticks wide */
	uint64_t end;		/* stamp: end of the last bucket */
	struct timeline_sums before;	/* at the begin of the last bucket */
};

/* Close buckets up to this stamp. Nothing has changed between the last call (or
 * timeline_high) and the stamp. Later changes count for the bucket with the
 * stamp, which becomes the last one. A zeroed struct timeline is empty. */
void timeline_advance(struct timeline *timeline, uint64_t stamp,
		      const struct timeline_sums *sums);
/* Close the last bucket: there are no more events. */
void timeline_finish(struct timeline *timeline,
		     const struct timeline_sums *sums);
void timeline_free(struct timeline *timeline);

/* More is live than before: updates the maxima of the last bucket. */
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

/* The begin stamp of a bucket; for the bucket after the last, the end of the
 * last. */
static inline uint64_t timeline_stamp(const struct timeline *timeline,
				      size_t bucket)
{
	/* the last bucket may end after the largest stamp */
	if (bucket > (UINT64_MAX - timeline->start) >> timeline->shift)
		return UINT64_MAX;
	return timeline->start + ((uint64_t)bucket << timeline->shift);
}

/*
 * The kernel's values for each bucket, by enum gt_usage_value, in bytes except
 * counts and times: the largest in the bucket, or the last one before it if
 * there is none; 0 before the first. `rows` has timeline->count rows.
 */
void timeline_memory(const struct timeline *timeline,
		     const struct footprint *footprint,
		     uint64_t (*rows)[GT_USAGE_VALUES]);

/* The bucket count, and the end of the last (I1). With GNOMON_DEBUG_ASSERTS. */
bool timeline_is_valid(const struct timeline *timeline);

#endif
