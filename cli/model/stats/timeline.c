/*
 * timeline.c: see timeline.h. The width begins with one tick and doubles
 * whenever the buckets do not reach the next stamp. A merged bucket has the
 * values of both, so widening loses only detail.
 *
 *  I1  count <= TIMELINE_BUCKETS; end is where the last bucket ends, or
 *      UINT64_MAX if that is beyond all stamps, or 0 before the first.
 *
 * Called by the reader's thread.
 */
#include "cli/model/stats/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/stats/footprint.h"
#include "unwind/base/assertion.h"

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The last bucket ends with these sums. */
static void close_last(struct timeline *timeline,
		       const struct timeline_sums *sums)
{
	struct timeline_bucket *last = &timeline->buckets[timeline->count - 1];
	const struct timeline_sums *before = &timeline->before;

	DEBUG_ASSERT(timeline->count > 0);
	last->live_bytes = sums->live_bytes;
	last->live_blocks = sums->live_blocks;
	last->allocations = sums->allocations - before->allocations;
	last->allocated_bytes = sums->allocated_bytes -
				before->allocated_bytes;
	last->frees = sums->frees - before->frees;
	last->freed_bytes = sums->freed_bytes - before->freed_bytes;
}

static void open_next(struct timeline *timeline,
		      const struct timeline_sums *sums)
{
	struct timeline_bucket *next = &timeline->buckets[timeline->count++];

	DEBUG_ASSERT(timeline->count <= TIMELINE_BUCKETS);	/* I1 */
	memset(next, 0, sizeof(*next));
	next->live_bytes = next->live_bytes_max = sums->live_bytes;
	next->live_blocks = next->live_blocks_max = sums->live_blocks;
	timeline->before = *sums;
}

static void merge(struct timeline_bucket *into,
		  const struct timeline_bucket *next)
{
	into->live_bytes_max = larger(into->live_bytes_max,
				      next->live_bytes_max);
	into->live_blocks_max = larger(into->live_blocks_max,
				       next->live_blocks_max);
	into->live_bytes = next->live_bytes;
	into->live_blocks = next->live_blocks;
	into->allocations += next->allocations;
	into->allocated_bytes += next->allocated_bytes;
	into->frees += next->frees;
	into->freed_bytes += next->freed_bytes;
}

/*
 * Doubles the width of buckets. The last bucket is open: if it is merged into
 * the one before, that one is open again, from its own begin.
 */
static void widen(struct timeline *timeline)
{
	struct timeline_bucket *buckets = timeline->buckets;
	struct timeline_sums *before = &timeline->before;
	size_t count = timeline->count;

	if (count > 0 && count % 2 == 0) {
		before->allocations -= buckets[count - 2].allocations;
		before->allocated_bytes -= buckets[count - 2].allocated_bytes;
		before->frees -= buckets[count - 2].frees;
		before->freed_bytes -= buckets[count - 2].freed_bytes;
	}
	DEBUG_ASSERT(count <= TIMELINE_BUCKETS);
	for (size_t i = 0; i < count; i++)
		if (i % 2 == 0)
			buckets[i / 2] = buckets[i];
		else
			merge(&buckets[i / 2], &buckets[i]);
	timeline->count = (count + 1) / 2;
	timeline->shift++;
	DEBUG_ASSERT(timeline->shift < 64);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool timeline_is_valid(const struct timeline *timeline)
{
	if (timeline->count == 0)
		return timeline->end == 0;
	return timeline->count <= TIMELINE_BUCKETS && timeline->shift < 64 &&
	       timeline->end == timeline_stamp(timeline, timeline->count);
}
#endif

void timeline_advance(struct timeline *timeline, uint64_t stamp,
		      const struct timeline_sums *sums)
{
	uint64_t wanted;

	if (timeline->buckets == NULL) {
		timeline->buckets = grow_resize(NULL, TIMELINE_BUCKETS,
						sizeof(*timeline->buckets));
		timeline->start = stamp;
	}
	if (stamp < timeline->start)
		return;
	while ((stamp - timeline->start) >> timeline->shift >=
	       TIMELINE_BUCKETS)
		widen(timeline);
	wanted = (stamp - timeline->start) >> timeline->shift;
	DEBUG_ASSERT(wanted < TIMELINE_BUCKETS);
	while (timeline->count <= wanted) {
		if (timeline->count > 0)
			close_last(timeline, sums);
		open_next(timeline, sums);
	}
	timeline->end = timeline_stamp(timeline, timeline->count);
	DEBUG_ASSERT(timeline_is_valid(timeline));
}

void timeline_finish(struct timeline *timeline,
		     const struct timeline_sums *sums)
{
	if (timeline->count > 0)
		close_last(timeline, sums);
}

void timeline_free(struct timeline *timeline)
{
	free(timeline->buckets);
	memset(timeline, 0, sizeof(*timeline));
}

static void convert(const struct trace_usage *point,
		    uint64_t row[GT_USAGE_VALUES])
{
	for (unsigned i = 0; i < GT_USAGE_VALUES; i++)
		row[i] = larger(row[i], footprint_value(point, i));
}

void timeline_memory(const struct timeline *timeline,
		     const struct footprint *footprint,
		     uint64_t (*rows)[GT_USAGE_VALUES])
{
	const struct trace_usage *points = footprint->points;
	size_t next = 0, count = footprint->point_count;

	for (size_t i = 0; i < timeline->count; i++) {
		uint64_t begin = timeline_stamp(timeline, i);
		uint64_t end = i + 1 < timeline->count ?
			timeline_stamp(timeline, i + 1) : UINT64_MAX;
		size_t first;

		DEBUG_ASSERT(begin <= end);
		while (next < count && points[next].stamp < begin)
			next++;
		first = next;
		memset(rows[i], 0, sizeof(rows[i]));
		for (; next < count && points[next].stamp < end; next++)
			convert(&points[next], rows[i]);
		if (first == next && first > 0)
			convert(&points[first - 1], rows[i]);
	}
}
