/*
 * selection.h: what the words of a filter mean in one trace, and which of its
 * blocks they select.
 *
 * What is known when a block is allocated (its size, thread, address, time) is
 * asked then. What only its end tells (how long it lived, what became of it)
 * is found out in a pass of its own, the *deciding* one: a bit for each block.
 * The pass that counts then knows at once whether a block is wanted, and all
 * its figures are exact, also maxima of the selected blocks alone.
 *
 * Both passes number the blocks as they begin, one by one: a block's number
 * among its thread's allocations (struct block) leaps where the trace leaves
 * some out, as every sample does, and bits would be far apart.
 */
#ifndef GNOMON_SELECTION_H
#define GNOMON_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/chains.h"

struct filter;
struct model;
struct selection;

/*
 * `outline` has read the trace, or its outline. NULL if some word means
 * nothing in it; that is noted (model_options). The filter has to live
 * as long as the selection.
 */
struct selection *selection_new(const struct filter *filter,
				const struct model *outline);
void selection_free(struct selection *selection);	/* NULL is allowed */

/* Whether a deciding pass is needed. */
bool selection_needs_ends(const struct selection *selection);
/* Whether all selected blocks are live at some given moment, and `live` means
 * then. */
bool selection_is_of_moment(const struct selection *selection);

/* The earliest moment that the words name, as a stamp: what happened before it
 * matters to them. UINT64_MAX: they name none. */
uint64_t selection_moment(const struct selection *selection);

/* Whether it may be selected, by what is known at its allocation. */
bool selection_may(const struct selection *selection,
		   const struct block *block);
/* Whether it is selected; `number`: the block's, `node`: its context's. */
bool selection_keeps(const struct selection *selection,
		     const struct block *block, uint64_t number,
		     uint32_t node);

/* ---- of a block whose end is known, without a deciding pass ---- */

struct selection_end;
/* Whether words ask for chains, or for groups: then this cannot be. */
bool selection_needs_others(const struct selection *selection);
/* Whether a block is selected that ended so; end->number is not looked at. Any
 * number of threads at once. */
bool selection_takes(const struct selection *selection,
		     const struct block *block,
		     const struct selection_end *end);

/* Both included. */
struct selection_range {
	uint64_t min, max;
};

/* A block that is outside one of these is not selected. Times are stamps. */
struct selection_bounds {
	struct selection_range birth, end, size;
	/* A bit for each thread of the model that may have allocated it; none is
	 * set for number 0, an unknown one. NULL: any. Borrowed. */
	const uint64_t *threads;
	size_t thread_count;
	/* The words say no more than that. */
	bool all;
};

void selection_bounds(const struct selection *selection,
		      struct selection_bounds *bounds);

/* ---- in the deciding pass ---- */

/* How a block ended, for who decides. */
struct selection_end {
	uint64_t number;	/* of the block; of a chain's end: none */
	uint64_t stamp;		/* or where the recording ends */
	uint32_t freed_by;	/* node of the stack that freed it */
	bool live;		/* it was never freed */
	bool temporary;
};
/* A block that may be selected; `chain`: the one it belongs to, or NULL. */
void selection_block(struct selection *selection, const struct block *block,
		     const struct selection_end *end, struct chain *chain);
/* The chain is complete, all its blocks told. */
void selection_chain(struct selection *selection, struct chain *chain,
		     const struct selection_end *end);
/* Some block of this context is live at the end. */
void selection_live_node(struct selection *selection, uint32_t node);

#endif
