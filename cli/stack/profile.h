/*
 * profile.h: the contexts of one or several models as one tree of normalised
 * frames: functions, files, lines and libraries instead of addresses. Stacks of
 * two processes, two runs or two builds are one stack here if their frames have
 * the same names.
 *
 * A profile has one or more *sides*, each with measures of its own: one side
 * for the tables of a report, however many processes it sums up; two for a
 * comparison. A *self* has the measures of the blocks of one stack on one side.
 *
 * How to use it: profile_new; profile_add once for each model, which may be
 * released afterwards; profile_seal; then all other functions. Its memory grows
 * with contexts, not with their depth: 16 bytes for a node, 128 for a self.
 */
#ifndef GNOMON_PROFILE_H
#define GNOMON_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/model/stats/figures.h"
#include "cli/stack/frames.h"

#define PROFILE_ROOT 0u		/* the node of the whole */
#define PROFILE_NONE UINT32_MAX

/* Equal frames are stored once and identified by number. */
struct profile_frame {
	const char *function;	/* NULL: code in no file (frames.h) */
	const char *file;	/* NULL: not known; with its directories */
	const char *library;	/* last part of its path; NULL: in no file */
	/* Start of the function in the library if it has no name; 0 if it has
	 * one, since offsets differ between builds. */
	uint64_t offset;
	uint64_t address;	/* in the process: of one of the equal frames */
	unsigned line;		/* 0: unknown, or several lines of the
				 * function */
	unsigned column;	/* 0: unknown, or several columns of the line */
	/* If sides are compared, of the first frame that was added. */
	bool inlined;
	bool nameless;
	bool glue;		/* see frames.h */
	bool wraps;
	bool own;		/* of the program's file; see `one_program` */
	/* Not GT_STOP_BOTTOM: not a frame, but the reason why the walk ended;
	 * `function` has it in words. */
	enum gt_stop stop;
};

/*
 * Once sealed, the descendants of node n (its direct and indirect callees) are
 * n + 1 … end - 1.
 */
struct profile_node {
	uint32_t parent;	/* the caller */
	uint32_t frame;		/* PROFILE_NONE for the root */
	uint32_t end;
	uint32_t first;		/* in `order`: its own self costs and, up to
				 * nodes[end].first, those of its descendants */
};

struct profile_self {
	struct figures figures;
	uint32_t node;
	uint32_t side;
	uint32_t contexts;	/* how many contexts of models it sums up */
	uint32_t next;		/* while adding: next self of the same node */
};

/* Sums over 64, 4096 and 262144 consecutive self costs, for each side. With
 * these, a sum over any range takes some hundred steps. */
#define PROFILE_LEVELS 3
struct profile_sum {
	struct figures figures;
	uint64_t contexts;
};

struct profile {
	unsigned sides;
	bool sealed;
	/* Set before the first profile_add: sides are compared; inlining may
	 * differ between the builds. */
	bool compares;
	/* Set before the first profile_add: each side is one process. The
	 * programs' files are one library, even if their names differ between
	 * the builds; so may the directories of source files. */
	bool one_program;
	/* Set before the first profile_add: all frames of a function are one,
	 * whatever their lines, which differ between builds. */
	bool of_functions;
	/* Set before the first profile_add: a recursive function (also
	 * indirectly recursive) is one node with the callees of all its calls.
	 * For trees, which would be as deep as the recursion. */
	bool fold;
	/* Set before the only profile_add: fill in `self_of_cost`, the self of
	 * each cost of the model; PROFILE_NONE: `keep` rejected it. */
	bool with_costs;
	uint32_t *self_of_cost;
	uint64_t end_ns;	/* of the longest recording */
	struct profile_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	struct profile_node *nodes;	/* sealed: one more, as end marker */
	size_t node_count;
	struct profile_self *self_costs;
	size_t self_count;
	size_t self_capacity;
	uint32_t *order;	/* sealed: self costs by (node, side) */
	struct profile_sum *sums[PROFILE_LEVELS];
	struct intern names;
	struct intern keys;	/* keys of frames, by number */
	/* While adding, instead of `nodes`: pairs (parent, frame), and the last
	 * self of each node. */
	struct pairset met;
	uint32_t *first;
	size_t first_capacity;
	struct buffer scratch;
};

struct profile *profile_new(unsigned sides);
/*
 * Add the contexts of the frames' model to a side. `keep` selects contexts;
 * NULL: all. May be called several times for a side: measures are summed.
 */
void profile_add(struct profile *profile, unsigned side,
		 struct frames *frames,
		 bool (*keep)(void *owner, uint32_t node,
			      const struct figures *figures),
		 void *owner);
void profile_seal(struct profile *profile);
/* Frees everything of a sealed profile except `frames` and `self_of_cost`. */
void profile_keep_frames(struct profile *profile);
void profile_free(struct profile *profile);

/* ---- of a sealed profile ---- */

/* Sums of a node with its descendants, and of its own stack alone; both return
 * the number of contexts. */
uint64_t profile_inclusive(const struct profile *profile, uint32_t node,
			   unsigned side, struct figures *sum);
uint64_t profile_own(const struct profile *profile, uint32_t node,
		     unsigned side, struct figures *sum);
/* The source file as it identifies a frame: without directories if those may
 * differ (`one_program`). NULL: not known. */
const char *profile_file(const struct profile *profile,
			 const struct profile_frame *frame);
/* Is the node an allocator wrapper or runtime frame, or part of one? */
bool profile_is_wrapper(const struct profile *profile, uint32_t node);
/* The site of the node: the innermost frame at or outside of it that is not an
 * allocator wrapper or runtime frame; the node itself if there is none. */
uint32_t profile_site(const struct profile *profile, uint32_t node);
/* The frames of a node's stack, innermost first, and why it ends early
 * (GT_STOP_BOTTOM: it does not). Returns how many. The list may be reused. */
size_t profile_frames_of(const struct profile *profile, uint32_t node,
			 struct frame **list, size_t *capacity,
			 enum gt_stop *stop);
/* Converts to a frame of frames.h; the reason why a walk ended becomes a frame
 * with the reason as its function. */
void profile_show_frame(const struct profile_frame *from, struct frame *frame);
/* The value that tables are sorted by. */
uint64_t profile_value(const struct profile *profile,
		       const struct figures *figures, enum measure key);

/* Checks the ranges of nodes and self costs of a sealed profile (I1, I2). With
 * GNOMON_DEBUG_ASSERTS. */
bool profile_is_valid(const struct profile *profile);

#endif
