/*
 * profile.h: the contexts of one model, or of several, as one tree of
 * normalised frames: functions, files, lines and libraries instead of
 * addresses. Stacks of two processes, of two runs or of two builds are one
 * stack here if they read the same.
 *
 * A profile has one or more *sides*, each with figures of its own: one for
 * the tables of a report, however many processes it sums up; two for a
 * comparison. A *self* is what the blocks of one stack come to on one side.
 *
 * How to use it: profile_new, profile_add once for each model, which may be
 * released afterwards; profile_seal; then everything else. Its memory grows
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

#define PROFILE_ROOT 0u		/* the node around everything */
#define PROFILE_NONE UINT32_MAX

/* Equal ones are one, told apart by their number. */
struct profile_frame {
	const char *function;	/* NULL: code in no file (frames.h) */
	const char *file;	/* NULL: not known; with its directories */
	const char *library;	/* last part of its path; NULL: in no file */
	/* Where it begins in the library; 0 if it has a name: that is not
	 * the same in another build. */
	uint64_t offset;
	uint64_t address;	/* in the process: one of those that read so */
	unsigned line;		/* 0: unknown, or several of the function */
	unsigned column;	/* 0: unknown, or several of the line */
	/* Where sides are compared, that of the first met. */
	bool inlined;
	bool nameless;
	bool glue;		/* see frames.h */
	bool wraps;
	/* Not GT_STOP_BOTTOM: no frame, but why the walk ended there;
	 * `function` says it in words. */
	enum gt_stop stop;
};

/*
 * Once sealed, nodes are numbered so that those inside of node n, called by
 * it directly or not, are n + 1 … end - 1.
 */
struct profile_node {
	uint32_t parent;	/* the caller */
	uint32_t frame;		/* PROFILE_NONE for the root */
	uint32_t end;
	uint32_t first;		/* of `order`: its own selves and, up to
				 * nodes[end].first, those inside of it */
};

struct profile_self {
	struct figures figures;
	uint32_t node;
	uint32_t side;
	uint32_t contexts;	/* of models; more than one were the same */
	uint32_t next;		/* while adding: of the same node */
};

/* Sums over 64, 4096 and 262144 selves in their order, for each side: with
 * them, a sum over any range takes some hundred steps. */
#define PROFILE_LEVELS 3
struct profile_sum {
	struct figures figures;
	uint64_t contexts;
};

struct profile {
	unsigned sides;
	bool sealed;
	/* Set before the first profile_add: sides are compared, and what is
	 * inlined changes from build to build. */
	bool compares;
	/* Set before the first profile_add: frames of one function are one,
	 * whichever their lines, which move from build to build. */
	bool of_functions;
	/* Set before the first profile_add: a function that calls itself, also
	 * through others, is one node, with all that any of its calls called.
	 * For trees, which would be as deep as the recursion. */
	bool fold;
	/* Set before the only profile_add: `self_of_cost` is wanted: the self
	 * of each of the model's costs; PROFILE_NONE: it was not kept. */
	bool with_costs;
	uint32_t *self_of_cost;
	uint64_t end_ns;	/* of the longest recording */
	struct profile_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	struct profile_node *nodes;	/* sealed: one more, the end */
	size_t node_count;
	struct profile_self *selves;
	size_t self_count;
	size_t self_capacity;
	uint32_t *order;	/* sealed: selves by (node, side) */
	struct profile_sum *sums[PROFILE_LEVELS];
	struct intern names;
	struct intern keys;	/* descriptions of frames, by their number */
	/* While adding, instead of `nodes`: (parent, frame), and the last self
	 * of each. */
	struct pairset met;
	uint32_t *first;
	size_t first_capacity;
	struct buffer scratch;
};

struct profile *profile_new(unsigned sides);
/*
 * Put the contexts of the frames' model to a side. `keep` says which; NULL:
 * all. May be called several times for one side: figures are summed up.
 */
void profile_add(struct profile *profile, unsigned side,
		 struct frames *frames,
		 bool (*keep)(void *owner, uint32_t node,
			      const struct figures *figures),
		 void *owner);
void profile_seal(struct profile *profile);
/* Of a sealed one: nothing but `frames` and `self_of_cost` is needed any
 * more. */
void profile_keep_frames(struct profile *profile);
void profile_free(struct profile *profile);

/* ---- of a sealed profile ---- */

/* Sums of a node with all inside of it, and of its own stack alone; both
 * return how many contexts that was. */
uint64_t profile_inclusive(const struct profile *profile, uint32_t node,
			   unsigned side, struct figures *sum);
uint64_t profile_own(const struct profile *profile, uint32_t node,
		     unsigned side, struct figures *sum);
/* Is the node glue, or a part of it? */
bool profile_is_glue(const struct profile *profile, uint32_t node);
/* The innermost node at or around this one that is no glue: its site. The
 * node itself if there is nothing else. */
uint32_t profile_site(const struct profile *profile, uint32_t node);
/* The frames of a node's stack, innermost first, and why it ends early
 * (GT_STOP_BOTTOM: it does not); returns how many. The list may be used again. */
size_t profile_frames_of(const struct profile *profile, uint32_t node,
			 struct frame **list, size_t *capacity,
			 enum gt_stop *stop);
/* A frame as frames.h has them; a reason why a walk ended is one whose function
 * says it. */
void profile_show_frame(const struct profile_frame *from, struct frame *frame);
/* The value that tables are sorted by. */
uint64_t profile_value(const struct profile *profile,
		       const struct figures *figures, enum figure key);

/* Of a sealed one: the ranges of nodes and selves (I1, I2). With
 * GNOMON_CLAIMS. */
bool profile_is_valid(const struct profile *profile);

#endif
