/*
 * index_answer.h: computes the measures of a model from the index of its trace
 * instead of its events: the same results, in a fraction of the time.
 *
 *	model = model_new(&options, &keys);
 *	status = model_read_outline(model, path);
 *	index_attach(model, store);
 *	error = index_answer(model, &index_all, NULL);
 *
 * One thread per model, as for reading it.
 */
#ifndef GNOMON_INDEX_ANSWER_H
#define GNOMON_INDEX_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cli/model/block_keys.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/store/store.h"

/* The results that the caller needs; others are not computed and not set. */
struct index_wanted {
	unsigned figures;	/* of contexts: 1 << enum figure */
	bool sizes;		/* model_histograms, of the whole run */
	bool whole;		/* model_totals_of_all, model_pools */
	bool blocks;		/* model_next_block */
	/* All contexts are merged into the root, so only keys separate blocks,
	 * which is faster. Not with `blocks`. */
	bool merged;
	/* If merged, the contexts whose blocks count: a bit for each of the
	 * first `nodes`; later ones do not count. NULL: all. Copied. */
	const uint64_t *chosen;
	size_t nodes;
};

extern const struct index_wanted index_all;

/* Whether an index can answer the request. It cannot for chains of blocks, for
 * options with an end or a view of their own, for histograms of contexts and
 * for the timeline. */
bool index_supports(const struct model_options *options);
/* Whether this index can. Not if the recording has stacks of frees
 * (model_freed), or if events are missing in the index. */
bool index_can_answer(struct store *store, const struct model_options *options);

/* Whether the trace, whose outline the model has read, is damaged in the same
 * places as when the index was made. True also if the trace has grown since:
 * then this is not known. */
bool index_fits(struct store *store, const struct model *model);

/* The model owns the index of its trace from now on, and closes it. */
void index_attach(struct model *model, struct store *store);

/*
 * `model` has read the outline of its trace, with mappings if its filter or
 * keys need them. Sets the measures for its options and keys; results of an
 * earlier request are dropped, so there can be several requests
 * (index_request). 0; -EINVAL: words have no meaning in this trace, which was
 * noted; -E2BIG: more groups than groups_max; -ESTALE: the index does not fit
 * the trace; otherwise as store_scan_each. On error nothing is set.
 */
int index_answer(struct model *model, const struct index_wanted *wanted,
		 const atomic_bool *cancel);

/*
 * All steps at once: reads the outline of a new model's trace, takes the index,
 * and answers. Returns the same as model_read. *error: the result of
 * index_answer, unless EXIT_NOTHING is returned. An index that turns out to be
 * unusable is dropped (index_store_drop).
 */
int index_read(struct model *model, const char *path, struct store *store,
	       const struct index_wanted *wanted, const atomic_bool *cancel,
	       int *error);

/* Sets other options and keys for a model whose outline was read: copied, as by
 * model_new. */
void index_request(struct model *model, const struct model_options *options,
		   const struct block_keys *keys);

#endif
