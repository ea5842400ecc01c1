/*
 * flame.h: flame graphs: a profile, made small enough to be drawn. Of a profile
 * of two sides, the differential flame graph.
 *
 * What is too small to be seen is folded: functions of less than a share of
 * their callers' whole become one node "(n smaller)" beneath the caller, with
 * their sums, so all totals stay what they are. A tree has at most some ten
 * thousand nodes, whatever it comes from.
 *
 * I1  Nodes are in the order of a walk from the root; what a node called is
 *     behind it, one level deeper, up to the next that is no deeper.
 * I2  A node's values are its own and those of all nodes it called, the
 *     folded ones among them: children never have more than their parent.
 * I3  Of two sides, `change` is the sum of what each stack grew or shrank by,
 *     so it adds up, too; and so does what each stack had on its larger side,
 *     (before + after + change) / 2, which is how wide a box is.
 * Called by the main thread.
 */
#ifndef GNOMON_FLAME_H
#define GNOMON_FLAME_H

#include "cli/command/comparing.h"
#include "cli/command/export.h"

enum flame_value {
	FLAME_LIVE, FLAME_PEAK, FLAME_TOTAL, FLAME_COUNT, FLAME_TEMPORARY,
	FLAME_LIVE_BLOCKS, FLAME_PEAK_BLOCKS,
	FLAME_VALUES
};
#define FLAME_COSTS FLAME_LIVE_BLOCKS	/* those before it are costs */
extern const enum figure flame_costs[FLAME_COSTS];

/* Of one side there is only the first. */
enum flame_side { FLAME_AFTER, FLAME_BEFORE, FLAME_CHANGE, FLAME_SIDES };
#define FLAME_ALL (FLAME_SIDES * FLAME_VALUES)
#define FLAME_OF(side, value) ((unsigned)(side) * FLAME_VALUES + (value))

struct flame_node {
	uint32_t parent;	/* the root is its own */
	uint32_t frame;		/* PROFILE_NONE: the root, or folded ones */
	uint32_t depth;
	uint32_t origin;	/* of the profile; of folded ones, the last
				 * that their caller called */
	uint32_t smaller;	/* of folded ones: functions called by the
				 * parent that are in here */
	uint64_t values[FLAME_ALL];	/* FLAME_OF */
};

struct flame_tree {
	const struct profile *profile;
	unsigned sides;		/* 1, or FLAME_SIDES: it compares */
	struct flame_node *nodes;
	uint32_t count;
	uint32_t capacity;
	uint64_t folded;	/* nodes of the profile that are not here */
	double share;		/* what is less of every cost was folded */
	/* Frames in use, by their number of the profile: those of `frames`. */
	uint32_t *frames;
	uint32_t frame_count;
	uint32_t *number;	/* of each of the profile's frames */
	/* Libraries, the one with most first; [0] is no library. Strings are
	 * the profile's. */
	const char **libraries;
	uint32_t library_count;
	uint32_t *library_of;	/* by number of the frame */
};

struct flame_limits {
	unsigned costs;		/* bits of enum flame_value: what is drawn */
	double share;
	uint32_t nodes;		/* not counting "(n smaller)" */
	uint32_t depth;		/* what is deeper is folded, too */
};

void flame_tree_build(struct flame_tree *tree, const struct profile *profile,
		      const struct flame_limits *limits);
/* How wide a node is: its value, or that of its larger sides (I3). */
uint64_t flame_width(const struct flame_node *node, enum flame_value value);
/* Of flame_colours.css: how much of what it is has come, or gone. */
const char *flame_change_class(const struct flame_node *node,
			       enum flame_value value);
/* Part of it (flame_names.c): the libraries of its frames. */
void flame_libraries(struct flame_tree *tree);
void flame_tree_free(struct flame_tree *tree);
/*
 * How long names may be, at most, that all frames (or nodes, if each has its
 * own copy) have room in `budget` bytes.
 */
size_t flame_name_limit(const struct flame_tree *tree, bool nodes,
			size_t budget);
/* The name of a frame or of a node, cut to `limit` bytes, between two
 * characters. Valid until the next call with this buffer. */
const char *flame_frame_name(struct buffer *scratch,
			     const struct profile_frame *frame, size_t limit);
const char *flame_name(struct buffer *scratch, const struct flame_tree *tree,
		       const struct flame_node *node, size_t limit);

/* What `gnomon flamegraph` hands to its writers. */
struct flame_export {
	struct export export;	/* first */
	bool icicle;		/* the root is at the top */
	/* Not NULL: what is compared; then there is neither a model nor a
	 * trace. */
	const struct comparing *comparing;
};
void flame_title(struct buffer *title, const struct flame_export *flame);
extern const struct exporter flame_svg;
extern const struct exporter flame_html;
extern const struct exporter flame_json;

/*
 * What was live of the larger nodes when each of `rows` spans of the timeline
 * ended; a span is `step` buckets wide. `live` is by row, then by track, and
 * each track without those of the nodes inside of it.
 */
struct flame_tracks {
	uint32_t *nodes;	/* of the tree, ascending; [0] is the root */
	uint32_t count;
	size_t step, rows;
	uint64_t *live;
};
/* By a second pass, before which of the profile nothing but its frames is
 * kept. False: there is nothing to follow. Free it anyway. */
bool flame_tracks_follow(struct flame_tracks *tracks, struct export *export,
			 const struct flame_tree *tree);
void flame_tracks_free(struct flame_tracks *tracks);

/* `data`, for the page, in JSON. */
void flame_data_write(struct flame_export *flame,
		      const struct flame_tree *tree, FILE *out);

/* What mk/page.mk made of cli/page/ (flame_pages.c); each ends with a NUL. */
extern const char flame_page_html[];
extern const char flame_page_html_css[];
extern const char flame_page_html_js[];
extern const char flame_page_svg_css[];
extern const char flame_page_svg_js[];

#endif
