/*
 * residency.h: what the process's resident memory consisted of, at snapshots.
 *
 * A snapshot says how much of each mapping was resident, not which pages. The
 * pages with live blocks are taken to be resident before others of their
 * mapping; what is left is divided among the others in proportion to their
 * sizes. All of it is exact in mappings that are resident wholly, or not at all,
 * and in those without live blocks that one maker has for himself.
 *
 * Of a trace that does not tell what was mapped (--maps off), memory without
 * live blocks is the allocator's where it lies in the heap that brk grows, or
 * beside live blocks; else it is the rest. Blocks that are not in the trace (left
 * out, not recorded, of which events were dropped) count as free memory.
 *
 * Called by the thread that has the model.
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
	RESIDENCY_FRAGMENTED,	/* what else is in their pages */
	RESIDENCY_FREE,		/* the allocator's pages without live blocks */
	RESIDENCY_MAPPED,	/* the program's own mappings of no file */
	RESIDENCY_FILES,	/* mapped files, and shared memory */
	RESIDENCY_STACKS,
	RESIDENCY_RECORDER,	/* gnomon's own */
	RESIDENCY_REST,		/* of which nobody knows whose it is */
	RESIDENCY_PARTS
};

/* In JSON and SQL, "live"; and in a few words. */
extern const char *const residency_names[RESIDENCY_PARTS];
extern const char *const residency_meanings[RESIDENCY_PARTS];

struct residency_point {
	const struct footprint_snapshot *snapshot;	/* the model's */
	uint64_t ns;			/* since the start */
	uint64_t rss_bytes;		/* all of it */
	uint64_t part_bytes[RESIDENCY_PARTS];	/* adds up to that */
	/* So much of the pages with live blocks may not be resident: then it
	 * is other memory of their mappings that is. */
	uint64_t bound_bytes;
};

struct residency {
	struct residency_point *list;	/* by time */
	size_t count;
	size_t left_out;	/* snapshots beyond the limit, or not whole */
};

/*
 * Of at most `limit` of the snapshots that the model counts, the last among
 * them, by one pass more over the trace if that is needed: not for those behind
 * the last event, of a model that selects nothing. All blocks are asked for,
 * whatever its filter selects. `maps`: of the model; NULL: none. Returns what
 * model_look does; EXIT_NOTHING: there are none. To be released.
 */
int residency_find(const struct model *model, const char *path, size_t limit,
		   const struct map_index *maps, struct residency *residency);
void residency_free(struct residency *residency);

#endif
