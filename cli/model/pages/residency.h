/*
 * residency.h: the composition of the process's resident memory at snapshots.
 *
 * A snapshot has the resident size of each mapping, not which pages are
 * resident. Pages with live blocks are assumed to be resident first. The
 * remaining resident bytes of a mapping are divided among its other parts in
 * proportion to their sizes. The result is exact for mappings that are resident
 * wholly, or not at all, and for mappings without live blocks that have only
 * one origin.
 *
 * If a trace does not have the mappings (--maps off), memory without live
 * blocks counts as the allocator's if it is in the brk heap or in a mapping
 * with live blocks, otherwise as the rest. Blocks that are not in the trace
 * (left out, not recorded, events dropped) count as free memory.
 *
 * Called by the model's thread.
 */
#ifndef GNOMON_RESIDENCY_H
#define GNOMON_RESIDENCY_H

#include <stddef.h>
#include <stdint.h>

struct footprint_snapshot;
struct map_index;
struct model;

enum residency_part {
	RESIDENCY_LIVE,		/* bytes of live blocks */
	RESIDENCY_FRAGMENTED,	/* other bytes of their pages */
	RESIDENCY_FREE,		/* the allocator's pages without live blocks */
	RESIDENCY_MAPPED,	/* the program's own anonymous mappings */
	RESIDENCY_FILES,	/* mapped files, and shared memory */
	RESIDENCY_STACKS,
	RESIDENCY_RECORDER,	/* gnomon's own */
	RESIDENCY_REST,		/* of unknown origin */
	RESIDENCY_PARTS
};

/* Names in JSON and SQL, as "live"; and texts for users. */
extern const char *const residency_names[RESIDENCY_PARTS];
extern const char *const residency_meanings[RESIDENCY_PARTS];

struct residency_point {
	const struct footprint_snapshot *snapshot;	/* the model's */
	uint64_t ns;			/* since the start */
	uint64_t rss_bytes;		/* the total */
	uint64_t part_bytes[RESIDENCY_PARTS];	/* adds up to rss_bytes */
	/* This much of the pages with live blocks may not be resident; then
	 * other memory of their mappings is. */
	uint64_t bound_bytes;
};

struct residency {
	struct residency_point *list;	/* by time */
	size_t count;
	size_t left_out;	/* snapshots beyond the limit, or incomplete */
};

/*
 * Computes at most `limit` of the snapshots that the model counts, the last one
 * included. Makes another pass over the trace if needed; not needed for
 * snapshots after the last event of a model without a filter. All blocks count,
 * whatever the filter selects. `maps`: of the model, or NULL. Returns the same
 * as model_at_moments; EXIT_NOTHING: no points. To be released.
 */
int residency_find(const struct model *model, const char *path, size_t limit,
		   const struct map_index *maps, struct residency *residency);
void residency_free(struct residency *residency);

#endif
