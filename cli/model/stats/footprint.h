/*
 * footprint.h: memory of the process over time, as counted by the kernel, and
 * snapshots of its mappings. The recorder's own memory is in the same process
 * and included in these numbers; snapshots show how much it is.
 */
#ifndef GNOMON_FOOTPRINT_H
#define GNOMON_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/trace/decode/memory_records.h"

struct footprint_mapping {
	uint64_t start, size;
	uint32_t flags;		/* enum gt_mapping_flags */
	uint64_t value[GT_MAPPING_VALUES];
	const char *path;	/* "": none */
};

/* Sums over mappings, in bytes. */
struct footprint_sums {
	uint64_t mappings;
	uint64_t size;
	uint64_t value[GT_MAPPING_VALUES];	/* without the offset: 0 */
};

struct footprint_snapshot {
	struct trace_snapshot said;	/* the record; its name is `name` */
	const char *name;
	struct footprint_sums all, ours;
	size_t first, count;	/* of footprint.mappings; incomplete if there
				 * were too many */
};

struct footprint {
	struct trace_usage *points;	/* in order of time */
	size_t point_count, point_capacity;
	struct footprint_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct footprint_snapshot *snapshots;
	size_t snapshot_count, snapshot_capacity;
	struct intern names;
	/* the snapshot whose mappings are being read, and their sums */
	uint64_t gathering;
	size_t gathered;	/* the first of its mappings */
	struct footprint_sums all, ours;
	uint64_t refused;	/* over a limit, or out of order */
};

void footprint_point(struct footprint *footprint,
		     const struct trace_usage *point);
void footprint_mapping(struct footprint *footprint,
		       const struct trace_mapping *mapping);
void footprint_snapshot(struct footprint *footprint,
			const struct trace_snapshot *snapshot);
void footprint_free(struct footprint *footprint);

/* A value in bytes: the kernel counts sizes in KiB. Counts and times are
 * unchanged. */
static inline uint64_t footprint_value(const struct trace_usage *point,
				       enum gt_usage_value value)
{
	bool kib = value >= GT_USAGE_SIZE && value < GT_USAGE_FAULTS_MINOR;

	return kib ? point->value[value] * 1024 : point->value[value];
}
/* Resident bytes of a mapping, at most its size. */
static inline uint64_t footprint_resident(const struct footprint_mapping *of)
{
	uint64_t kib = of->value[GT_MAPPING_RSS];

	return kib < of->size / 1024 ? kib * 1024 : of->size;
}
/* The largest value, in bytes, and its stamp; 0 if there is no point. */
uint64_t footprint_peak(const struct footprint *footprint,
			enum gt_usage_value value, uint64_t *stamp);
/* The last value, in bytes. */
uint64_t footprint_last(const struct footprint *footprint,
			enum gt_usage_value value);
/* Whether some point has all values, not only the sizes. */
bool footprint_is_detailed(const struct footprint *footprint);
/* The last snapshot with the allocator's statistics, or NULL. */
const struct footprint_snapshot *
footprint_arenas(const struct footprint *footprint);

/* Whether a snapshot has all of its mappings, sorted by address and without
 * overlaps, as the kernel lists them; a forged one may not. */
bool footprint_is_whole(const struct footprint *footprint,
			const struct footprint_snapshot *snapshot);

/* Points are in the order of time, snapshots are adjacent (I1). With
 * GNOMON_DEBUG_ASSERTS. */
bool footprint_is_valid(const struct footprint *footprint);

#endif
