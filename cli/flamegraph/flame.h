/*
 * flame.h: flame graphs: a profile reduced to a size that can be drawn. A
 * profile of two sides (a diff) becomes a differential flame graph.
 *
 * Functions below a share of their caller's total are folded: they become one
 * node "(n smaller)" beneath the caller, with their sums, so all totals stay
 * the same. A tree has at most some ten thousand nodes, whatever the size of
 * the profile.
 *
 * I1  Nodes are in preorder: the callees of a node follow it, one level deeper,
 *     up to the next node that is not deeper.
 * I2  A node's values include those of all its callees, folded ones too: the
 *     sum of the children never exceeds the parent.
 * I3  With two sides, `change` is the sum of how much each stack grew or
 *     shrank, so it adds up. So does the larger side of each stack, (before +
 *     after + change) / 2, which is the width of a box.
 */
#ifndef GNOMON_FLAME_H
#define GNOMON_FLAME_H

#include "cli/command/comparison.h"
#include "cli/command/export.h"

enum flame_value {
	FLAME_LIVE, FLAME_PEAK, FLAME_TOTAL, FLAME_COUNT, FLAME_TEMPORARY,
	FLAME_LIVE_BLOCKS, FLAME_PEAK_BLOCKS,
	FLAME_VALUES
};
#define FLAME_COSTS FLAME_LIVE_BLOCKS	/* the values before it are costs */
extern const enum measure flame_costs[FLAME_COSTS];

/* A profile of one side has only the first. */
enum flame_side { FLAME_AFTER, FLAME_BEFORE, FLAME_CHANGE, FLAME_SIDES };
#define FLAME_ALL (FLAME_SIDES * FLAME_VALUES)
#define FLAME_OF(side, value) ((unsigned)(side) * FLAME_VALUES + (value))

struct flame_node {
	uint32_t parent;	/* the root is its own parent */
	uint32_t frame;		/* PROFILE_NONE: the root, or a folded node */
	uint32_t depth;
	uint32_t origin;	/* node of the profile; of a folded node, the
				 * last that its caller called */
	uint32_t smaller;	/* of a folded node: how many functions it
				 * contains */
	uint64_t values[FLAME_ALL];	/* FLAME_OF */
};

struct flame_tree {
	const struct profile *profile;
	unsigned sides;		/* 1, or FLAME_SIDES: a diff */
	struct flame_node *nodes;
	uint32_t count;
	uint32_t capacity;
	uint64_t folded;	/* nodes of the profile left out of the tree */
	double share;		/* nodes below this share of every cost were
				 * folded */
	/* Frames in use: their numbers in the profile. */
	uint32_t *frames;
	uint32_t frame_count;
	uint32_t *number;	/* profile frame -> number in `frames` */
	/* Libraries, largest first; [0] is no library. Strings are the
	 * profile's. */
	const char **libraries;
	uint32_t library_count;
	uint32_t *library_of;	/* by number in `frames` */
};

struct flame_limits {
	unsigned costs;		/* bits of enum flame_value that are drawn */
	double share;
	uint32_t nodes;		/* without "(n smaller)" nodes */
	uint32_t depth;		/* deeper nodes are folded, too */
};

void flame_tree_build(struct flame_tree *tree, const struct profile *profile,
		      const struct flame_limits *limits);
/* The width of a node: its value, or that of its larger side (I3). */
uint64_t flame_width(const struct flame_node *node, enum flame_value value);
/* The class in flame_colours.css for how much the node grew or shrank. */
const char *flame_change_class(const struct flame_node *node,
			       enum flame_value value);
/* Part of flame_tree_build (flame_names.c): the libraries of its frames. */
void flame_libraries(struct flame_tree *tree);
void flame_tree_free(struct flame_tree *tree);
/*
 * The longest names for which all frames (or all nodes, if each has its own
 * copy) fit in `budget` bytes.
 */
size_t flame_name_limit(const struct flame_tree *tree, bool nodes,
			size_t budget);
/* The name of a frame or of a node, cut to `limit` bytes at a character
 * boundary. Valid until the next call with this buffer. */
const char *flame_frame_name(struct buffer *scratch,
			     const struct profile_frame *frame, size_t limit);
const char *flame_name(struct buffer *scratch, const struct flame_tree *tree,
		       const struct flame_node *node, size_t limit);

/* Passed to the writers of `gnomon flamegraph`. */
struct flame_export {
	struct export export;	/* first */
	bool icicle;		/* root at the top */
	/* Not NULL: a diff, which has neither a model nor a trace. */
	const struct comparison *comparison;
};
void flame_title(struct buffer *title, const struct flame_export *flame);
extern const struct exporter flame_svg;
extern const struct exporter flame_html;
extern const struct exporter flame_json;

/*
 * Live memory of the larger nodes at the end of each of `rows` spans of the
 * timeline; a span is `step` buckets wide. `live` is by row, then by track.
 * Each track excludes the nodes inside it that have tracks.
 */
struct flame_tracks {
	uint32_t *nodes;	/* of the tree, ascending; [0] is the root */
	uint32_t count;
	size_t step, rows;
	uint64_t *live;
};
/* Collect the tracks by a second pass over the trace. Before it, all of the
 * profile but its frames is freed. False: there are no events to follow. Call
 * flame_tracks_free in either case. */
bool flame_tracks_follow(struct flame_tracks *tracks, struct export *export,
			 const struct flame_tree *tree);
void flame_tracks_free(struct flame_tracks *tracks);

/* The JSON object `data` of the page. */
void flame_data_write(struct flame_export *flame,
		      const struct flame_tree *tree, FILE *out);

/* Made from cli/page/ by mk/page.mk (flame_pages.c); NUL-terminated. */
extern const char flame_page_html[];
extern const char flame_page_html_css[];
extern const char flame_page_html_js[];
extern const char flame_page_svg_css[];
extern const char flame_page_svg_js[];

#endif
