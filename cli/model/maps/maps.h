/*
 * maps.h: what was mapped, when, and by whom.
 *
 * Two sources are brought together: the program's own calls (EXTRA events,
 * exact) and looks at what the kernel lists (MAPS chunks: what changed between
 * two of them, and was in no call, was done inside the C library or the loader,
 * or by a raw system call).
 *
 * A *mapping* is what one call made, or what one look found at one place; it
 * keeps its maker whatever happens to parts of it. A *span* (spans.h) is a
 * range that it still has. Nothing of this counts as an allocation.
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
#define MAPS_NO_NODE UINT32_MAX	/* its stack is not known */
#define MAPS_KEPT 65536		/* mappings that are gone, one by one */
#define MAPS_TOUCHES_MAX (1u << 18)	/* ranges touched between two looks */
#define MAPS_POINTS 2048	/* of the curve over time */
#define MAPS_NONE UINT32_MAX
#define MAPS_RECENT_BITS 14	/* log2 of how many pages */

/* Flags of a span beside enum gt_maps_is. */
#define MAPS_SPAN_FILE 0x100u	/* of a file; if */
#define MAPS_SPAN_LOOKED 0x200u	/* a look has seen it */

/* Who made a mapping; the first ones are those of enum gt_within. */
enum map_origin {
	MAP_PROGRAM,
	MAP_MALLOC,
	MAP_CREATE,
	MAP_DLOPEN,
	MAP_ALLOCATOR,
	MAP_BEFORE,		/* it was there when the recording began */
	MAP_RECORDER,		/* it is gnomon's own */
	MAP_OTHER,		/* nobody is known */
	MAP_ORIGINS
};
extern const char *const map_origin_names[MAP_ORIGINS];

struct mapping {
	uint64_t start, size;	/* as it was made */
	uint64_t bytes;		/* what is left of it */
	uint64_t mapped;	/* stamp; where a look found it, of the look */
	uint64_t unmapped;	/* stamp of the end of its last byte, or 0 */
	uint64_t device, inode;	/* if `looked`; 0 and 0: anonymous */
	const char *path;	/* "" none, or not known */
	uint32_t node;		/* context; MAPS_NO_NODE */
	uint32_t look;		/* number of the look that found it, 0: none */
	uint8_t origin;		/* enum map_origin */
	uint8_t is;		/* enum gt_maps_is: what it was first */
	bool looked;		/* a look has seen it */
	bool attached;		/* by shmat; its size is not known before a
				 * look has seen it */
};

/* All mappings with one origin and stack. */
struct map_site {
	uint32_t node;
	uint32_t origin;
	uint64_t count;
	uint64_t total_bytes;	/* as they were made */
	uint64_t live_count;
	uint64_t live_bytes;
};

struct map_point {
	uint64_t stamp;
	uint64_t bytes;
};

/* Bytes mapped over time, the recorder's left out. */
struct map_curve {
	struct map_point points[MAPS_POINTS];
	size_t count;
	uint64_t step;		/* ticks that a point stands for; 0: exact */
	struct map_point peak;
};

/* A range that an event touched, for the next look. */
struct map_touch {
	uint64_t start, end;
	uint64_t stamp;
	bool unmapped;
};

/* What may explain mappings that the next look finds. */
struct map_clue {
	uint64_t stamp;
	uint64_t address;	/* CREATE, SHMAT: in the mapping;
				 * DLOPEN: hash of the file's name */
	uint64_t size;		/* block in a mapping of its own: of that */
	uint32_t node;
	uint8_t what;		/* enum gt_extra; 0: a block */
};

/* The first block that began or ended in a page. */
struct map_page {
	uint64_t page;		/* its address */
	uint64_t stamp;		/* 0: none */
	uint32_t node;
};

struct map_look {
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
	uint32_t *gone;			/* ring of the last that went */
	size_t gone_count;
	uint64_t forgotten;		/* that went and are not kept */
	struct map_site *sites;
	size_t site_count;
	size_t site_capacity;
	struct table by_site;		/* origin, node -> site */
	struct map_curve curve;
	uint64_t own_bytes;		/* of the recorder */
	uint64_t calls[GT_EXTRA_COUNT];	/* events by kind */
	uint64_t failed;		/* calls that did nothing */
	uint64_t now;			/* stamp of what is being applied */

	/* since the begin of the look before */
	struct map_touch *touches;
	size_t touch_count;
	size_t touch_capacity;
	struct map_clue *clues;
	size_t clue_count;
	size_t clue_capacity;
	/* what the last munmap of each lane took, for its failing */
	struct span *undo;
	size_t undo_count;
	size_t undo_capacity;
	uint32_t undo_lane;

	/* looks */
	uint32_t *found;		/* mappings that the last one found */
	size_t found_count;
	size_t found_capacity;
	struct trace_map *kernel;	/* the list of the last one */
	size_t kernel_count;
	struct map_look building;	/* more of it is to come */
	struct map_look *waiting;	/* until events have come so far */
	size_t waiting_count;
	size_t waiting_capacity;
	uint64_t due;			/* stamp of the first that waits */
	uint64_t window;		/* ticks by which stamps may be off */
	uint32_t looks;			/* so far */
	uint64_t first_look, last_look;	/* stamps */
	struct intern paths;

	/* whose blocks lie in what a look finds */
	const struct blocks *blocks;
	struct contexts *contexts;
	struct map_page *pages;
	size_t page_count;
	size_t page_capacity;
	struct table by_page;
	/* Some of those that have a first block, each at its place: most
	 * blocks lie in one of them. */
	uint64_t recent[1 << MAPS_RECENT_BITS];
	uint64_t unclaimed;		/* bytes that nobody is known to have
					 * mapped; a block may show who */
};

void maps_init(struct maps *maps, const struct blocks *blocks,
	       struct contexts *contexts);

/* A MAPS chunk; `records` begins behind the head. */
void maps_take(struct maps *maps, const struct trace_maps *head,
	       struct cursor *records);

/* An EXTRA event of this lane. */
void maps_extra(struct maps *maps, uint32_t lane,
		const struct trace_event *event);

/* All events have come. */
void maps_finish(struct maps *maps);

void maps_free(struct maps *maps);

/* Before anything is done at this time: looks that are older come first. */
void maps_look_all(struct maps *maps, uint64_t stamp);
static inline void maps_until(struct maps *maps, uint64_t stamp)
{
	if (stamp > maps->due)
		maps_look_all(maps, stamp);
}

/* A block that begins to be. */
void maps_block(struct maps *maps, const struct trace_event *event);

/* Arenas begin at multiples of their size: pages are spread by Fibonacci hashing
 * (Knuth, The Art of Computer Programming 3, 6.4). */
static inline size_t maps_recent_place(uint64_t page)
{
	return page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MAPS_RECENT_BITS);
}

static inline bool maps_is_recent(const struct maps *maps, uint64_t address)
{
	uint64_t page = address / MAPS_PAGE;

	return maps->recent[maps_recent_place(page)] == page;
}

/* Any event, in the order of time, before anything else is done with it: looks
 * that are older come first, and what a block tells is noted. */
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

/* A mapping that begins to be; index. The range is free. */
uint32_t maps_add(struct maps *maps, const struct mapping *mapping,
		  uint32_t flags);
/* More of one that is there, beside it. */
void maps_extend(struct maps *maps, uint32_t index, uint64_t start,
		 uint64_t end, uint32_t flags);
/* [start, end) is mapped no more. */
void maps_cut(struct maps *maps, uint64_t start, uint64_t end);
/* A part of a mapping, or all of it, is told apart: it was another's.
 * Returns its index. */
uint32_t maps_claim(struct maps *maps, uint64_t start, uint64_t end,
		    enum map_origin origin, uint32_t node, uint64_t stamp);
/* The same, as if the last look had not found what lay there: another event
 * tells whose it is. */
void maps_unfind(struct maps *maps, uint64_t start, uint64_t end);
/* A piece that was cut is there again. */
void maps_restore(struct maps *maps, const struct span *piece);
void maps_note(struct maps *maps, uint64_t stamp);
uint32_t maps_node(struct maps *maps, uint32_t context);

/* Attributes what a look has found, as far as that is known. */
void maps_explain(struct maps *maps, const struct trace_maps *head);
/* A stack was found to be a thread's. */
void maps_explain_create(struct maps *maps, const struct map_clue *clue);
/* A block shows who mapped [start, start + size), or, if size is 0, the span
 * around it: where nobody is known. */
void maps_explain_late(struct maps *maps, uint64_t start, uint64_t size,
		       const struct map_clue *clue);

/* I1 of maps.c, and the order of the curve. With GNOMON_CLAIMS. */
bool maps_is_valid(const struct maps *maps);

#endif
