/*
 * footprint.c: see footprint.h.
 *
 * A snapshot's mappings come before its own record. Chunks in between may have
 * other records, but never mappings of another snapshot. Mappings without a
 * snapshot (the recorder was killed in between) are dropped.
 *
 *  I1  snapshots have adjacent ranges of `mappings`, in order; after them come
 *      the mappings of the next snapshot.
 *
 * Called by the reader's thread.
 */
#include "cli/model/stats/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

#define POINTS_MAX (8u << 20)		/* 9 days at the highest rate */
#define MAPPINGS_MAX (4u << 20)
#define SNAPSHOTS_MAX (1u << 20)

void footprint_point(struct footprint *footprint,
		     const struct trace_usage *point)
{
	size_t count = footprint->point_count;

	if (count >= POINTS_MAX ||
	    (count > 0 && footprint->points[count - 1].stamp > point->stamp)) {
		footprint->refused++;
		return;
	}
	GROW(footprint->points, footprint->point_count,
	     footprint->point_capacity);
	footprint->points[footprint->point_count++] = *point;
}

/* Drops mappings without a snapshot (I1). */
static void begin_gathering(struct footprint *footprint, uint64_t number)
{
	DEBUG_ASSERT(footprint->gathered <= footprint->mapping_count);	/* I1 */
	footprint->mapping_count = footprint->gathered;
	memset(&footprint->all, 0, sizeof(footprint->all));
	memset(&footprint->ours, 0, sizeof(footprint->ours));
	footprint->gathering = number;
}

static void add(struct footprint_sums *sums,
		const struct trace_mapping *mapping)
{
	sums->mappings++;
	sums->size += mapping->size;
	for (unsigned i = GT_MAPPING_RSS; i < GT_MAPPING_VALUES; i++)
		sums->value[i] += mapping->value[i] * 1024;	/* KiB */
}

void footprint_mapping(struct footprint *footprint,
		       const struct trace_mapping *mapping)
{
	struct footprint_mapping *to;

	if (mapping->snapshot != footprint->gathering)
		begin_gathering(footprint, mapping->snapshot);
	add(&footprint->all, mapping);
	if (mapping->flags & GT_MAPPING_OURS)
		add(&footprint->ours, mapping);
	DEBUG_ASSERT(footprint->ours.mappings <= footprint->all.mappings);
	if (footprint->mapping_count >= MAPPINGS_MAX) {
		footprint->refused++;
		return;
	}
	GROW(footprint->mappings, footprint->mapping_count,
	     footprint->mapping_capacity);
	DEBUG_ASSERT(footprint->gathered <= footprint->mapping_count); /* I1 */
	to = &footprint->mappings[footprint->mapping_count++];
	to->start = mapping->start;
	to->size = mapping->size;
	to->flags = mapping->flags;
	memcpy(to->value, mapping->value, sizeof(to->value));
	to->path = intern_bytes(&footprint->names, mapping->path,
				mapping->path_size);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool footprint_is_valid(const struct footprint *footprint)
{
	size_t first = 0;

	for (size_t i = 1; i < footprint->point_count; i++)
		if (footprint->points[i].stamp < footprint->points[i - 1].stamp)
			return false;
	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		if (footprint->snapshots[i].first != first)
			return false;	/* I1 */
		first += footprint->snapshots[i].count;
	}
	return first == footprint->gathered &&
	       footprint->gathered <= footprint->mapping_count;
}
#endif

void footprint_snapshot(struct footprint *footprint,
			const struct trace_snapshot *snapshot)
{
	struct footprint_snapshot *to;

	if (snapshot->number != footprint->gathering)
		begin_gathering(footprint, snapshot->number);
	if (footprint->snapshot_count >= SNAPSHOTS_MAX) {
		footprint->refused++;
		return;
	}
	GROW(footprint->snapshots, footprint->snapshot_count,
	     footprint->snapshot_capacity);
	to = &footprint->snapshots[footprint->snapshot_count++];
	to->said = *snapshot;
	to->said.name = NULL;
	to->name = intern_bytes(&footprint->names, snapshot->name,
				snapshot->name_size);
	to->all = footprint->all;
	to->ours = footprint->ours;
	to->first = footprint->gathered;
	to->count = footprint->mapping_count - footprint->gathered;
	footprint->gathered = footprint->mapping_count;
	DEBUG_ASSERT((footprint->snapshot_count &
		      (footprint->snapshot_count - 1)) ||
		     footprint_is_valid(footprint));
	begin_gathering(footprint, 0);
}

void footprint_free(struct footprint *footprint)
{
	free(footprint->points);
	free(footprint->mappings);
	free(footprint->snapshots);
	intern_free(&footprint->names);
}

uint64_t footprint_peak(const struct footprint *footprint,
			enum gt_usage_value value, uint64_t *stamp)
{
	uint64_t peak = 0;

	*stamp = 0;
	for (size_t i = 0; i < footprint->point_count; i++) {
		uint64_t size = footprint_value(&footprint->points[i], value);

		if (size <= peak)
			continue;
		peak = size;
		*stamp = footprint->points[i].stamp;
	}
	return peak;
}

uint64_t footprint_last(const struct footprint *footprint,
			enum gt_usage_value value)
{
	size_t count = footprint->point_count;

	return count == 0 ? 0 :
	       footprint_value(&footprint->points[count - 1], value);
}

bool footprint_is_detailed(const struct footprint *footprint)
{
	for (size_t i = 0; i < footprint->point_count; i++)
		if (footprint->points[i].value[GT_USAGE_FLAGS] &
		    GT_USAGE_DETAILED)
			return true;
	return false;
}

const struct footprint_snapshot *
footprint_arenas(const struct footprint *footprint)
{
	for (size_t i = footprint->snapshot_count; i-- > 0;)
		if (footprint->snapshots[i].said.arenas == GT_ARENAS_TAKEN)
			return &footprint->snapshots[i];
	return NULL;
}

bool footprint_is_whole(const struct footprint *footprint,
			const struct footprint_snapshot *snapshot)
{
	const struct footprint_mapping *list =
		footprint->mappings + snapshot->first;
	uint64_t end = 0;

	if (!(snapshot->said.flags & GT_SNAPSHOT_WHOLE) ||
	    snapshot->count == 0 || snapshot->count != snapshot->said.mappings)
		return false;
	for (size_t i = 0; i < snapshot->count; i++) {
		if (list[i].start < end ||
		    list[i].size > UINT64_MAX - list[i].start)
			return false;
		end = list[i].start + list[i].size;
	}
	return true;
}
