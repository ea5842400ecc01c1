/*
 * rows_answer.h: the figures of a model from a store of its trace, instead of
 * from its events: the same ones, in a fraction of the time.
 *
 *	model = model_new(&options, &keys);
 *	status = model_read_outline(model, path);
 *	rows_take(model, store);
 *	error = rows_answer(model, &rows_all, NULL);
 *
 * One thread for each model, as for reading it.
 */
#ifndef GNOMON_ROWS_ANSWER_H
#define GNOMON_ROWS_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cli/model/block_keys.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/store/store.h"

/* What will be looked at: the rest need not be found out, and is not there. */
struct rows_wanted {
	unsigned figures;	/* of costs: 1 << enum figure */
	bool sizes;		/* model_histograms, of the whole run */
	bool whole;		/* model_totals_of_all, model_pools */
	bool blocks;		/* model_next_block */
	/* Blocks of all contexts are told as of the root: they are told apart by
	 * keys alone, which takes less. Without `blocks`. */
	bool merged;
	/* Where they are merged, the contexts whose blocks count: a bit for
	 * each of the first `nodes`, and no others. NULL: all. Copied. */
	const uint64_t *chosen;
	size_t nodes;
};

extern const struct rows_wanted rows_all;

/* Whether rows tell what is asked: not if it is about chains of blocks, an end or
 * a view of the caller's own, histograms of contexts or the timeline. */
bool rows_tell(const struct model_options *options);
/* And whether those of a store do: not if it is told who frees (model_freed), nor
 * if events are missing in them. */
bool rows_can_answer(struct store *store, const struct model_options *options);

/* Whether the trace, whose outline the model has read, is damaged where it was when
 * the store was made. If it has grown since, that is not known: true. */
bool rows_fit(struct store *store, const struct model *model);

/* The store of the model's trace is the model's from now on, which closes it. */
void rows_take(struct model *model, struct store *store);

/*
 * `model` has read the outline of its trace, with what was mapped if its
 * filter or keys are about that. Its figures become those of its options and
 * keys; what was asked for before is forgotten, so it may be asked again
 * (rows_ask). 0; -EINVAL: its words make no sense in this trace, which was noted;
 * -E2BIG: there are more groups than groups_max; -ESTALE: rows do not fit;
 * else as store_scan_each. If it is not 0 there are no figures.
 */
int rows_answer(struct model *model, const struct rows_wanted *wanted,
		const atomic_bool *cancel);

/*
 * All at once: reads the outline of a new model's trace, takes the store, and
 * answers. Returns what model_read does. *error: what rows_answer does, if it is
 * not EXIT_NOTHING. A store that turns out to be of no use is dropped
 * (rows_store_drop).
 */
int rows_read(struct model *model, const char *path, struct store *store,
	      const struct rows_wanted *wanted, const atomic_bool *cancel,
	      int *error);

/* Other options and keys for a model whose outline was read: copied, as by
 * model_new. */
void rows_ask(struct model *model, const struct model_options *options,
	      const struct block_keys *keys);

#endif
