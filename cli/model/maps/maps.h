/*
 * maps.h: what was mapped, when, and by whom.
 *
 * Two sources are combined: the program's own calls (EXTRA events, exact), and
 * looks: lists of the kernel's mappings (MAPS chunks). A change between two
 * looks that no call explains was made inside the C library or the loader, or
 * by a raw system call.
 *
 * A *mapping* is made by one call, or found by one look in one address range.
 * It keeps its origin whatever happens to parts of it. A *span* (spans.h) is a
 * range that the mapping still has. Mappings do not count as allocations.
 */
#ifndef GNOMON_MAPS_H
#define GNOMON_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/table.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/maps/spans.h"
#include "cli/trace/decode/map_records.h"

#define MAPS_PAGE UINT64_C(4096)
#define MAPS_NO_NODE UINT32_MAX	/* stack not known */
#define MAPS_KEPT 65536		/* unmapped mappings that are kept one by one */
#define MAPS_TOUCHES_MAX (1u << 18)	/* ranges changed between two looks */
#define MAPS_POINTS 2048	/* of the curve over time */
#define MAPS_NONE UINT32_MAX
#define MAPS_RECENT_BITS 14	/* log2 of the number of pages */

/* Flags of a span, in addition to enum gt_maps_is. */
#define MAPS_SPAN_FILE 0x100u	/* mapped from a file; valid if */
#define MAPS_SPAN_LOOKED 0x200u	/* a look has found it */

/* Who made a mapping; the first ones are those of enum gt_within. */
enum map_origin {
	MAP_PROGRAM,
	MAP_MALLOC,
	MAP_CREATE,
	MAP_DLOPEN,
	MAP_ALLOCATOR,
	MAP_BEFORE,		/* existed when the recording began */
	MAP_RECORDER,		/* gnomon's own */
	MAP_OTHER,		/* unknown */
	MAP_ORIGINS
};
extern const char *const map_origin_names[MAP_ORIGINS];

struct mapping {
	uint64_t start, size;	/* when it was made */
	uint64_t bytes;		/* still mapped */
	uint64_t mapped;	/* stamp; the look's, if a look found it */
	uint64_t unmapped;	/* stamp at which its last byte was unmapped, or
				 * 0 */
	uint64_t device, inode;	/* if `looked`; 0 and 0: anonymous */
	const char *path;	/* "": none, or not known */
	uint32_t node;		/* context; MAPS_NO_NODE */
	uint32_t look;		/* number of the look that found it; 0: none */
	uint8_t origin;		/* enum map_origin */
	uint8_t is;		/* enum gt_maps_is: at first */
	bool looked;		/* a look has found it */
	bool attached;		/* by shmat; its size is not known until a look
				 * has found it */
};

/* All mappings with one origin and stack. */
struct map_site {
	uint32_t node;
	uint32_t origin;
	uint64_t count;
	uint64_t total_bytes;	/* size at first */
	uint64_t live_count;
	uint64_t live_bytes;
};

struct map_point {
	uint64_t stamp;
	uint64_t bytes;
};

/* Bytes mapped over time, without the recorder's. */
struct map_curve {
	struct map_point points[MAPS_POINTS];
	size_t count;
	uint64_t step;		/* ticks per point; 0: exact */
	struct map_point peak;
};

/* A range that an event changed, for the next look. */
struct map_touch {
	uint64_t start, end;
	uint64_t stamp;
	bool unmapped;
};

/* An event that may explain mappings found by the next look. */
struct map_clue {
	uint64_t stamp;
	uint64_t address;	/* CREATE, SHMAT: an address in the mapping;
				 * DLOPEN: hash of the file's name */
	uint64_t size;		/* for a block in a mapping of its own: the size
				 * of that mapping */
	uint32_t node;
	uint8_t what;		/* enum gt_extra; 0: a block */
};

/* The first block that was allocated or freed in a page. */
struct map_page {
	uint64_t page;		/* its address */
	uint64_t stamp;		/* 0: none */
	uint32_t node;
};

struct map_scan {
	struct trace_maps head;
	struct trace_map *list;
	size_t count;
	size_t capacity;
};

struct maps {
	struct spans spans;		/* owner: index of the mapping */
	struct mapping *list;
	size_t count;
	size_t capacity;
	uint32_t *gone;			/* ring of the last unmapped ones */
	size_t gone_count;
	uint64_t forgotten;		/* unmapped and no longer kept */
	struct map_site *sites;
	size_t site_count;
	size_t site_capacity;
	struct table by_site;		/* origin, node -> site */
	struct map_curve curve;
	uint64_t own_bytes;		/* the recorder's */
	uint64_t calls[GT_EXTRA_COUNT];	/* events by kind */
	uint64_t failed;		/* calls that failed */
	uint64_t now;			/* stamp of the current event or look */

	/* since the begin of the previous look */
	struct map_touch *touches;
	size_t touch_count;
	size_t touch_capacity;
	struct map_clue *clues;
	size_t clue_count;
	size_t clue_capacity;
	/* spans removed by the last munmap of each lane, in case it fails */
	struct span *undo;
	size_t undo_count;
	size_t undo_capacity;
	uint32_t undo_lane;

	/* looks */
	uint32_t *found;		/* mappings found by the last look */
	size_t found_count;
	size_t found_capacity;
	struct trace_map *kernel;	/* the list of the last look */
	size_t kernel_count;
	struct map_scan building;	/* a look of which more is to come */
	struct map_scan *waiting;	/* looks waiting for events up to their
					 * end */
	size_t waiting_count;
	size_t waiting_capacity;
	uint64_t due;			/* stamp of the first that waits */
	uint64_t window;		/* error of stamps in ticks */
	uint32_t looks;			/* so far */
	uint64_t first_look, last_look;	/* stamps */
	struct intern paths;

	/* blocks in the mappings that a look finds */
	const struct blocks *blocks;
	struct contexts *contexts;
	struct map_page *pages;
	size_t page_count;
	size_t page_capacity;
	struct table by_page;
	/* Pages that already have a first block, in a direct-mapped cache: most
	 * blocks are in one of them. */
	uint64_t recent[1 << MAPS_RECENT_BITS];
	uint64_t unattributed;		/* bytes whose origin is unknown; a
					 * block may still reveal it */
};

void maps_init(struct maps *maps, const struct blocks *blocks,
	       struct contexts *contexts);

/* Takes a MAPS chunk; `records` begins after the head. */
void maps_take(struct maps *maps, const struct trace_maps *head,
	       struct cursor *records);

/* An EXTRA event of this lane. */
void maps_extra(struct maps *maps, uint32_t lane,
		const struct trace_event *event);

/* All events have been read. */
void maps_finish(struct maps *maps);

void maps_free(struct maps *maps);

/* Call before anything is done at this stamp: applies earlier looks first. */
void maps_scan_all(struct maps *maps, uint64_t stamp);
static inline void maps_until(struct maps *maps, uint64_t stamp)
{
	if (stamp > maps->due)
		maps_scan_all(maps, stamp);
}

/* A block that is allocated. */
void maps_block(struct maps *maps, const struct trace_event *event);

/* Arenas begin at multiples of their size, so pages are spread by Fibonacci
 * hashing (Knuth, The Art of Computer Programming 3, 6.4). */
static inline size_t maps_recent_place(uint64_t page)
{
	return page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MAPS_RECENT_BITS);
}

static inline bool maps_is_recent(const struct maps *maps, uint64_t address)
{
	uint64_t page = address / MAPS_PAGE;

	return maps->recent[maps_recent_place(page)] == page;
}

/* Call for any event, in the order of time, before using it elsewhere: applies
 * earlier looks, and notes what a block reveals about mappings. */
static inline void maps_event(struct maps *maps,
			      const struct trace_event *event)
{
	maps_until(maps, event->stamp);
	if (event->kind != GT_ALLOC && event->kind != GT_REALLOC_DONE)
		return;
	if (event->layout & GT_LAYOUT_MMAPPED ||
	    !maps_is_recent(maps, event->address) ||
	    !maps_is_recent(maps, event->address + event->size -
				  (event->size > 0)))
		maps_block(maps, event);
}

/* ---- among maps*.c ---- */

/* Adds a mapping; returns its index. The range is free. */
uint32_t maps_add(struct maps *maps, const struct mapping *mapping,
		  uint32_t flags);
/* Extends a mapping by an adjacent range. */
void maps_extend(struct maps *maps, uint32_t index, uint64_t start,
		 uint64_t end, uint32_t flags);
/* [start, end) is unmapped. */
void maps_cut(struct maps *maps, uint64_t start, uint64_t end);
/* Gives a range of existing mappings to a new mapping with another origin.
 * Returns its index. */
uint32_t maps_attribute(struct maps *maps, uint64_t start, uint64_t end,
			enum map_origin origin, uint32_t node, uint64_t stamp);
/* The same, as if the last look had not found the range: another event shows
 * who made it. */
void maps_unfind(struct maps *maps, uint64_t start, uint64_t end);
/* A piece that was cut is mapped again. */
void maps_restore(struct maps *maps, const struct span *piece);
void maps_note(struct maps *maps, uint64_t stamp);
uint32_t maps_node(struct maps *maps, uint32_t context);

/* Finds the origins of the mappings that a look has found, as far as known. */
void maps_explain(struct maps *maps, const struct trace_maps *head);
/* A stack was identified as a thread's. */
void maps_explain_create(struct maps *maps, const struct map_clue *clue);
/* A block shows who mapped [start, start + size) or, if size is 0, the span
 * around it. Applies only where the origin is unknown. */
void maps_explain_late(struct maps *maps, uint64_t start, uint64_t size,
		       const struct map_clue *clue);

/* I1 of maps.c, and the order of the curve. With GNOMON_DEBUG_ASSERTS. */
bool maps_is_valid(const struct maps *maps);

#endif
