/*
 * footprint.h: how much memory the program had over time, as the kernel
 * counted it, and the snapshots of its mappings. The recorder's own memory
 * lies in the same process and is part of these figures; snapshots say which.
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
	const char *path;	/* "" for none */
};

/* Over mappings, in bytes. */
struct footprint_sums {
	uint64_t mappings;
	uint64_t size;
	uint64_t value[GT_MAPPING_VALUES];	/* but the offset's: 0 */
};

struct footprint_snapshot {
	struct trace_snapshot said;	/* its name is `name` */
	const char *name;
	struct footprint_sums all, ours;
	size_t first, count;	/* of footprint.mappings; not all of them
				 * where there were too many */
};

struct footprint {
	struct trace_usage *points;	/* in order of time */
	size_t point_count, point_capacity;
	struct footprint_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct footprint_snapshot *snapshots;
	size_t snapshot_count, snapshot_capacity;
	struct intern names;
	/* the snapshot whose mappings come now, and what came */
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

/* What the kernel counts in KiB, as bytes; counts and times as they are. */
static inline uint64_t footprint_value(const struct trace_usage *point,
				       enum gt_usage_value value)
{
	bool kib = value >= GT_USAGE_SIZE && value < GT_USAGE_FAULTS_MINOR;

	return kib ? point->value[value] * 1024 : point->value[value];
}
/* What of a mapping is resident, in bytes: no more than there is of it. */
static inline uint64_t footprint_resident(const struct footprint_mapping *of)
{
	uint64_t kib = of->value[GT_MAPPING_RSS];

	return kib < of->size / 1024 ? kib * 1024 : of->size;
}
/* The largest value, in bytes, and when it was; 0 where there is no point. */
uint64_t footprint_peak(const struct footprint *footprint,
			enum gt_usage_value value, uint64_t *stamp);
/* The last value, in bytes. */
uint64_t footprint_last(const struct footprint *footprint,
			enum gt_usage_value value);
/* Whether some point has all figures, not only the sizes. */
bool footprint_is_detailed(const struct footprint *footprint);
/* The last snapshot that has the allocator's figures, or NULL. */
const struct footprint_snapshot *
footprint_arenas(const struct footprint *footprint);

/* Whether a snapshot has all of its mappings, one after the other by address, as
 * the kernel lists them: a made-up one may have others. */
bool footprint_is_whole(const struct footprint *footprint,
			const struct footprint_snapshot *snapshot);

/* Points are in order of time, snapshots adjoin (I1). With GNOMON_CLAIMS. */
bool footprint_is_valid(const struct footprint *footprint);

#endif
