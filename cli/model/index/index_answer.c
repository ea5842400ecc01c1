/*
 * index_answer.c: see index_answer.h.
 *
 *	filter ─▶ scan ─▶ groups ─▶ sums, own peaks ─▶ costs ─▶ totals
 *
 * Costs are made in the order of their first allocations, as in a pass over the
 * events, so that ties are sorted alike.
 *
 * One thread; the store uses workers of its own.
 */
#include "cli/model/index/index_answer.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/account.h"
#include "cli/model/filters.h"
#include "cli/model/map_index.h"
#include "cli/model/passes.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_groups.h"
#include "cli/model/index/index_select.h"
#include "cli/model/index/index_store.h"
#include "cli/model/index/index_trace.h"
#include "cli/model/index/index_whole.h"
#include "cli/model/selection.h"
#include "cli/model/view.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_sweep.h"
#include "unwind/base/assertion.h"

/* There is only one maximum, and all costs have their values at it. */
#define PEAK_EPOCH 1

const struct index_wanted index_all = {
	.figures = ~0u, .sizes = true, .whole = true, .blocks = true,
};

struct answer {
	struct model *model;
	struct store *store;
	const struct index_wanted *wanted;
	struct index_select select;
	struct index_groups groups;
	struct store_weight weight;
	uint64_t peak_edge;
	struct store_sums *sums;	/* by group */
	struct store_peak *peaks;	/* by group; NULL: not requested */
	uint32_t *order;		/* groups, in the order of costs */
};

static bool wants(const struct answer *answer, enum measure measure)
{
	return answer->wanted->figures >> measure & 1;
}

/* ---- which requests can be answered ---- */

static bool is_of_blocks(const struct filter *filter)
{
	const struct filter_word *word;

	for (size_t i = 0; (word = filter_word(filter, FILTER_FATE, i)); i++)
		if (word->number == FILTER_FATE_CHAIN_LIVE ||
		    word->number == FILTER_FATE_GROUP_LIVE)
			return false;
	return !filter_has(filter, FILTER_CHAIN_LENGTH_MIN,
			   FILTER_LAST_SIZE_MAX);
}

bool index_supports(const struct model_options *options)
{
	return (options->wants & ~(unsigned)MODEL_WANT_FREED_BY) == 0 &&
	       options->until_ns == 0 && options->begin_ns == 0 &&
	       is_of_blocks(options->filter);
}

static bool reports_who_frees(const struct store *store)
{
	uint64_t min, max;

	return store_bounds(store, STORE_END_NODE, &min, &max) &&
	       min != STORE_NONE;
}

bool index_can_answer(struct store *store, const struct model_options *options)
{
	struct index_facts facts;
	bool whole = index_facts_read(store, &facts) && facts.undefined == 0 &&
		     !facts.growing;

	index_facts_free(&facts);
	return whole && index_supports(options) && !reports_who_frees(store);
}

static bool facts_fit(const struct store *store,
		      const struct index_facts *facts,
		      const struct reader_report *report)
{
	return facts->trace_bytes != report->file_bytes ||
	       facts->trace_damage == index_trace_damage(
		       report, store_key(store)->prefix_bytes);
}

bool index_fits(struct store *store, const struct model *model)
{
	struct index_facts facts;
	bool fit = index_facts_read(store, &facts) &&
		   facts_fit(store, &facts, &model->report);

	index_facts_free(&facts);
	return fit;
}

/* ---- requests ---- */

void index_request(struct model *model, const struct model_options *options,
		   const struct block_keys *keys)
{
	selection_free(model->selection);
	map_index_free(model->mappings);
	block_keys_free(&model->keys);
	model->selection = NULL;
	model->mappings = NULL;
	model->options = *options;
	block_keys_copy(&model->keys, keys);
}

static void forget(struct model *model)
{
	view_forget_figures(model);
	model->omitted.kept_peak_stamp = 0;
	blocks_clear(&model->edges.blocks);
	model->past_count = 0;
	model->beyond = 0;
}

/* Moments are relative to the duration that the outline knows, as in passes. */
static bool resolve(struct model *model)
{
	if (!model->asked)
		model->outline_stamp = model->totals.last_stamp;
	model->asked = true;
	model->totals.last_stamp = model->outline_stamp;
	if (!passes_resolve(model, model))
		return false;
	if (!block_keys_have(&model->keys, BLOCK_KEY_MAPPING))
		return true;
	model->mappings = map_index_new(NULL, model, "--by mapping");
	return model->mappings != NULL;
}

/* ---- sums ---- */

static unsigned sums_wanted(const struct answer *answer)
{
	unsigned sums = STORE_SUM_FREES | STORE_SUM_LIVE;

	if (wants(answer, MEASURE_TEMPORARY))
		sums |= STORE_SUM_TEMPORARY;
	if (wants(answer, MEASURE_LIFETIME))
		sums |= STORE_SUM_LIFETIME;
	if (wants(answer, MEASURE_AGE))
		sums |= STORE_SUM_FIRST_LAST;
	if (wants(answer, MEASURE_PEAK))
		sums |= STORE_SUM_ALIVE_EDGE;
	return sums;
}

static int sum(struct answer *answer, const struct store_scan *scan,
	       const struct store_grouping *grouping, unsigned which,
	       struct store_sums *sums)
{
	const struct store_group_options options = {
		.sums = which,
		.temporary = answer->model->options.temporary,
		.alive_at = answer->peak_edge,
		.weight = answer->weight,
	};

	return store_group(answer->store, scan, grouping, &options, sums);
}

static int sum_groups(struct answer *answer)
{
	size_t count = answer->groups.count;
	int error;

	answer->sums = grow_zeroed(count + 1, sizeof(*answer->sums));
	error = sum(answer, &answer->select.scan, &answer->groups.grouping,
		    sums_wanted(answer), answer->sums);
	if (error != 0 || !wants(answer, MEASURE_OWN_PEAK))
		return error;
	answer->peaks = grow_zeroed(count + 1, sizeof(*answer->peaks));
	return store_peaks(answer->store, &answer->select.scan,
			   &answer->groups.grouping, &answer->weight, NULL,
			   answer->peaks);
}

/* ---- costs ---- */

/* By first allocation if known; otherwise by node. */
static int compare(const void *left, const void *right, void *owner)
{
	const struct answer *answer = owner;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct index_group *x = &answer->groups.list[a];
	const struct index_group *y = &answer->groups.list[b];
	uint32_t xs[BLOCK_KEYS_MAX] = { 0 }, ys[BLOCK_KEYS_MAX] = { 0 };
	int way = 0;

	if (wants(answer, MEASURE_AGE))
		way = sort_up(answer->sums[a].first_edge,
			      answer->sums[b].first_edge);
	if (way == 0)
		way = sort_up(x->node, y->node);
	if (way != 0 || answer->groups.keys.count == 0)
		return way;
	block_keys_values(&answer->groups.keys, x->key, xs);
	block_keys_values(&answer->groups.keys, y->key, ys);
	for (unsigned i = 0; way == 0 && i < BLOCK_KEYS_MAX; i++)
		way = sort_up(xs[i], ys[i]);
	return way;
}

/* Groups that have rows; returns how many. */
static size_t put_in_order(struct answer *answer)
{
	size_t count = 0;

	answer->order = grow_alloc((answer->groups.count + 1) *
				   sizeof(*answer->order));
	for (size_t i = 0; i < answer->groups.count; i++)
		if (answer->sums[i].blocks > 0)
			answer->order[count++] = (uint32_t)i;
	if (count > 0)
		qsort_r(answer->order, count, sizeof(*answer->order), compare,
			answer);
	return count;
}

static uint32_t cost_for(struct answer *answer, const struct index_group *group)
{
	struct model *model = answer->model;
	uint32_t values[BLOCK_KEYS_MAX], key = 0;

	if (model->keys.count > 0) {
		block_keys_values(&answer->groups.keys, group->key, values);
		key = block_keys_number(&model->keys, values);
	}
	return contexts_node_cost(&model->contexts, group->node, key,
				  model->keys.count > 0);
}

static void fill_cost(struct context_cost *cost, const struct store_sums *sums,
		      const struct store_peak *peak)
{
	cost->allocations = sums->blocks;
	cost->total_bytes = sums->bytes;
	cost->frees = sums->frees;
	cost->temporary = sums->temporary;
	cost->live_blocks = sums->live_blocks;
	cost->live_bytes = sums->live_bytes;
	cost->lifetime = sums->lifetime;
	cost->first = sums->first;
	cost->last = sums->last;
	cost->peak_blocks = sums->alive_blocks;
	cost->peak_bytes = sums->alive_bytes;
	cost->epoch = PEAK_EPOCH;
	if (peak == NULL)
		return;
	cost->own_peak_bytes = peak->bytes;
	cost->own_peak_blocks = peak->blocks;
	cost->own_peak_stamp = peak->bytes > 0 ? peak->stamp : 0;
}

static void add_totals(struct totals *totals, const struct store_sums *sums)
{
	totals->allocations += sums->blocks;
	totals->total_bytes += sums->bytes;
	totals->frees += sums->frees;
	totals->temporary += sums->temporary;
	totals->live_blocks += sums->live_blocks;
	totals->live_bytes += sums->live_bytes;
}

static void make_costs(struct answer *answer)
{
	struct model *model = answer->model;
	size_t count = put_in_order(answer);

	for (size_t i = 0; i < count; i++) {
		uint32_t group = answer->order[i];
		uint32_t cost = cost_for(answer, &answer->groups.list[group]);

		DEBUG_ASSERT(cost == i);
		fill_cost(&model->contexts.costs[cost], &answer->sums[group],
			  answer->peaks != NULL ? &answer->peaks[group] :
						  NULL);
		add_totals(&model->totals, &answer->sums[group]);
	}
}

/* ---- sizes and lifetimes ---- */

static void number_sizes(void *owner, unsigned worker,
			 const struct store_batch *batch, uint32_t *groups)
{
	(void)owner;
	(void)worker;
	for (size_t i = 0; i < batch->count; i++)
		groups[i] = histogram_bucket(batch->column[STORE_SIZE][i]);
}

static void number_lifetimes(void *owner, unsigned worker,
			     const struct store_batch *batch,
			     uint32_t *groups)
{
	const struct model *model = owner;
	const uint64_t *lifetimes = batch->column[STORE_LIFETIME];
	const uint64_t *how = batch->column[STORE_HOW];

	(void)worker;
	for (size_t i = 0; i < batch->count; i++)
		groups[i] = !index_is_freed(how[i]) ? STORE_NONE :
			histogram_bucket(account_span_ns(model, lifetimes[i]));
}

static void fill_size(const struct model *model, struct size_class *size,
		      const struct store_sums *sums)
{
	bool of_moment = model->selection != NULL &&
			 selection_is_of_moment(model->selection);

	*size = (struct size_class){
		.allocations = sums->blocks,
		.bytes = sums->bytes,
		.frees = sums->frees,
		.temporary = sums->temporary,
		.live_blocks = of_moment ? sums->blocks : sums->live_blocks,
		.live_bytes = of_moment ? sums->bytes : sums->live_bytes,
		.lifetime = sums->lifetime,
	};
}

static int find_sizes(struct answer *answer)
{
	struct model *model = answer->model;
	const struct store_grouping sizes = {
		.groups = HISTOGRAM_BUCKETS, .number = number_sizes,
		.columns = STORE_BIT(STORE_SIZE),
	}, lifetimes = {
		.groups = HISTOGRAM_BUCKETS, .number = number_lifetimes,
		.owner = model,
		.columns = STORE_BIT(STORE_LIFETIME) | STORE_BIT(STORE_HOW),
	};
	struct store_sums sums[HISTOGRAM_BUCKETS];
	int error = sum(answer, &answer->select.scan, &sizes,
			STORE_SUM_FREES | STORE_SUM_LIVE |
			STORE_SUM_TEMPORARY | STORE_SUM_LIFETIME, sums);

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && error == 0; i++)
		fill_size(model, &model->histograms.sizes[i], &sums[i]);
	if (error == 0)
		error = sum(answer, &answer->select.scan, &lifetimes, 0, sums);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && error == 0; i++)
		model->histograms.lifetimes[i] = (struct histogram_bucket){
			sums[i].blocks, sums[i].bytes,
		};
	return error;
}

/* ---- blocks ---- */

/* The cost of a row: it exists, since the row was summed up. */
static uint32_t cost_of(const struct model *model,
			const struct index_values *values, size_t row,
			uint64_t node)
{
	uint32_t list[BLOCK_KEYS_MAX], key;

	if (node >= model->contexts.node_count)
		return CONTEXT_NO_COST;
	index_values_at(values, model->keys.count, row, list);
	if (!block_keys_find(&model->keys, list, &key))
		return CONTEXT_NO_COST;
	return contexts_find_cost(&model->contexts, (uint32_t)node, key);
}

static void add_block(struct model *model, const struct block *block,
		      bool live)
{
	struct block *to;
	int is_new;

	if (live) {
		to = blocks_add(&model->edges.blocks, block->address, &is_new);
		if (is_new)
			*to = *block;
		return;
	}
	GROW(model->past, model->past_count, model->past_capacity);
	model->past[model->past_count++] = *block;
}

static void add_blocks(struct model *model, const struct store_batch *batch)
{
	struct index_values values;

	index_groups_values(model, &model->keys, batch, &values);
	for (size_t i = 0; i < batch->count; i++) {
		struct block block = index_block(model, batch, i);

		block.cost = cost_of(model, &values, i,
				     batch->column[STORE_NODE][i]);
		if (block.cost != CONTEXT_NO_COST && block.address != 0)
			add_block(model, &block, batch->column[STORE_HOW][i] ==
				  STORE_LIVE);
	}
}

/* Blocks live at the end, or at the moment of the filter. */
static int find_blocks(struct answer *answer)
{
	struct model *model = answer->model;
	const struct store_range live = { STORE_LIVE, STORE_LIVE };
	struct store_term terms[INDEX_TERMS + 1];
	struct store_scan scan = answer->select.scan;
	const struct store_batch *batch;
	struct store_cursor *cursor;
	int error;

	for (size_t i = 0; i < scan.term_count; i++)
		terms[i] = scan.terms[i];
	if (model->selection == NULL ||
	    !selection_is_of_moment(model->selection))
		terms[scan.term_count++] = (struct store_term){
			.column = STORE_HOW, .ranges = &live, .range_count = 1,
		};
	scan.terms = terms;
	cursor = store_cursor_new(answer->store, &scan, INDEX_BLOCK_COLUMNS |
				  STORE_BIT(STORE_HOW) |
				  STORE_BIT(STORE_NODE) |
				  index_groups_columns(&model->keys));
	while ((error = store_cursor_next(cursor, &batch)) == 1)
		add_blocks(model, batch);
	store_cursor_free(cursor);
	return error;
}

/* ---- the answer ---- */

static int find(struct answer *answer)
{
	struct model *model = answer->model;
	uint64_t max = model->keys.count > 0 ? model->options.groups_max : 0;
	int error;

	error = index_whole_figures(model, answer->wanted->whole,
				    answer->select.scan.cancel,
				    &answer->peak_edge);
	if (error != 0)
		return error;
	model->totals.epoch = PEAK_EPOCH;
	if (!index_groups_all(&answer->groups, model, max))
		error = index_groups_find(&answer->groups, model,
					  answer->store, &answer->select.scan,
					  max);
	if (error == 0)
		error = sum_groups(answer);
	if (error != 0)
		return error;
	make_costs(answer);
	if (answer->wanted->sizes)
		error = find_sizes(answer);
	if (error == 0 && answer->wanted->blocks)
		error = find_blocks(answer);
	return error;
}

void index_attach(struct model *model, struct store *store)
{
	ASSERT(model->store == NULL);
	model->store = store;
}

static void take_chosen(struct model *model, const struct index_wanted *wanted)
{
	size_t words = wanted->nodes / 64 + 1;

	free(model->chosen);
	model->merged = wanted->merged;
	model->chosen = NULL;
	model->chosen_nodes = wanted->nodes;
	if (wanted->chosen == NULL)
		return;
	model->chosen = grow_alloc(words * sizeof(*model->chosen));
	memcpy(model->chosen, wanted->chosen, words * sizeof(*model->chosen));
}

int index_answer(struct model *model, const struct index_wanted *wanted,
		 const atomic_bool *cancel)
{
	struct answer answer = {
		.model = model, .store = model->store, .wanted = wanted,
	};
	struct index_facts facts;
	int error = -EBADMSG;

	ASSERT(index_supports(&model->options));
	ASSERT(wanted->merged ? !wanted->blocks : wanted->chosen == NULL);
	forget(model);
	take_chosen(model, wanted);
	if (!index_facts_read(model->store, &facts))
		goto out;
	error = -ESTALE;
	if (!facts_fit(model->store, &facts, &model->report))
		goto out;
	error = -EINVAL;
	if (!resolve(model))
		goto out;
	index_whole_facts(model, &facts);
	index_select(&answer.select, model, cancel);
	answer.weight = index_weight(model);
	error = find(&answer);
	if (error == 0)
		account_settle(model);
	else
		forget(model);
out:
	index_facts_free(&facts);
	index_groups_free(&answer.groups);
	free(answer.sums);
	free(answer.peaks);
	free(answer.order);
	return error;
}

int index_read(struct model *model, const char *path, struct store *store,
	       const struct index_wanted *wanted, const atomic_bool *cancel,
	       int *error)
{
	int status;

	model->with_maps = block_keys_have(&model->keys, BLOCK_KEY_MAPPING) ||
		filter_has(model->options.filter, FILTER_MAP, FILTER_MAP);
	status = model_read_outline(model, path);
	index_attach(model, store);
	*error = 0;
	if (status != EXIT_NOTHING)
		*error = index_answer(model, wanted, cancel);
	index_store_drop(store, *error, model->options.notes);
	return *error == -EINVAL ? EXIT_NOTHING : status;
}
