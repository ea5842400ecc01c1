/*
 * selection.h: the meaning of a filter's words in one trace, and which of its
 * blocks they select.
 *
 * Conditions on an allocation (size, thread, address, time) are checked when
 * the block is allocated. Conditions on its end (lifetime, fate) need a pass of
 * their own, the *deciding* pass, which stores a bit for each block. The pass
 * that counts then knows at the allocation whether the block is selected. So
 * all its measures are exact, including maxima of the selected blocks alone.
 *
 * Both passes number blocks one by one in the order of allocation. The sequence
 * numbers in struct block are no use for that: they have large gaps where the
 * trace leaves blocks out, as every sample does, and the bits would be far
 * apart.
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
 * `outline` has read the trace, or its outline. NULL if some word has no
 * meaning in it, which is noted (model_options). The filter has to live as long
 * as the selection.
 */
struct selection *selection_new(const struct filter *filter,
				const struct model *outline);
void selection_free(struct selection *selection);	/* NULL is allowed */

/* Whether a deciding pass is needed. */
bool selection_needs_ends(const struct selection *selection);
/* Whether the filter selects blocks that are live at a given moment; then
 * `live` means at that moment. */
bool selection_is_of_moment(const struct selection *selection);

/* The earliest moment that the words name, as a stamp: events before it matter
 * for them. UINT64_MAX: they name none. */
uint64_t selection_moment(const struct selection *selection);

/* Whether the block may be selected, by what is known at its allocation. */
bool selection_may(const struct selection *selection,
		   const struct block *block);
/* Whether the block is selected. `number`: the number of the block; `node`: the
 * node of its context. */
bool selection_keeps(const struct selection *selection,
		     const struct block *block, uint64_t number,
		     uint32_t node);

/* ---- for a block whose end is known, without a deciding pass ---- */

struct selection_end;
/* Whether words depend on chains or groups: then selection_matches cannot
 * decide. */
bool selection_needs_others(const struct selection *selection);
/* Whether a block with this end is selected; end->number is not used. May be
 * called by several threads at once. */
bool selection_matches(const struct selection *selection,
		       const struct block *block,
		       const struct selection_end *end);

/* Both included. */
struct selection_range {
	uint64_t min, max;
};

/* Stamps. A block outside of one of these ranges, or of another thread, is not
 * selected. */
struct selection_bounds {
	struct selection_range alloc, end, size;
	/* A bit for each thread of the model that may have allocated it; none is
	 * set for number 0, an unknown one. NULL: any. Borrowed. */
	const uint64_t *threads;
	size_t thread_count;
	/* The ranges and threads are all that the words require. */
	bool all;
};

void selection_bounds(const struct selection *selection,
		      struct selection_bounds *bounds);

/* ---- in the deciding pass ---- */

/* How a block ended, for the decision. */
struct selection_end {
	uint64_t number;	/* of the block; unused for the end of a
				 * chain */
	uint64_t stamp;		/* the end of the recording if it did not end */
	uint32_t freed_by;	/* node of the stack that freed it */
	bool live;		/* it was never freed */
	bool temporary;
};
/* A block that may be selected. `chain`: its chain, or NULL. */
void selection_block(struct selection *selection, const struct block *block,
		     const struct selection_end *end, struct chain *chain);
/* The chain is complete: selection_block was called for all its blocks. */
void selection_chain(struct selection *selection, struct chain *chain,
		     const struct selection_end *end);
/* Some block of this context is live at the end. */
void selection_live_node(struct selection *selection, uint32_t node);

#endif
