/*
 * account.c: see account.h: the special path, and the work before the first
 * event and after the last.
 *
 * Samples: measures are sums of sample weights (weight.h), in fixed point;
 * account_round.c rounds them at the end. No block counts as temporary:
 * allocations before its free may be missing in the sample.
 *
 * Filters: `whole` has the measures of all blocks and defines the global peak;
 * contexts and `totals` have those of the selected blocks.
 *
 * Called by the reader's thread.
 */
#include "cli/model/account.h"

#include "cli/base/grow.h"
#include "cli/model/omitted.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/selection.h"
#include "cli/model/view.h"
#include "unwind/base/assertion.h"

static struct weight_amount amount_of(const struct model *model, uint64_t size)
{
	return weight_block(size, model->sample_mean);
}

double model_weight(const struct model *model, const struct block *block)
{
	uint64_t blocks = amount_of(model, block->size).blocks;

	return model->sample_mean == 0 ? 1 :
		(double)blocks / (1 << WEIGHT_BLOCK_BITS);
}

uint64_t model_stands_for(const struct model *model, uint64_t size)
{
	return amount_of(model, size).bytes;
}

uint64_t model_whole_bytes(const struct model *model, uint64_t sum)
{
	return model->sample_mean == 0 ? sum :
		(sum + (1 << WEIGHT_BYTE_BITS) / 2) >> WEIGHT_BYTE_BITS;
}

/* ---- the timeline ---- */

static struct timeline_sums sums_of(const struct model *model)
{
	const struct totals *totals = &model->totals;

	return (struct timeline_sums){
		.live_bytes = totals->live_bytes,
		.live_blocks = totals->live_blocks,
		.allocations = totals->allocations,
		.allocated_bytes = totals->total_bytes,
		.frees = totals->frees,
		.freed_bytes = totals->total_bytes - totals->live_bytes,
	};
}

static uint64_t next_look(const struct model *model)
{
	return model->looks != NULL && model->looked < model->looks->count ?
		model->looks->stamps[model->looked] : UINT64_MAX;
}

void account_sample(struct model *model, uint64_t stamp)
{
	const struct model_looks *looks = model->looks;

	while (looks != NULL && model->looked < looks->count &&
	       looks->stamps[model->looked] <= stamp) {
		looks->look(looks->owner, model, model->looked);
		model->looked++;
	}
}

/* The next stamp with more to do than counting. */
static uint64_t next_alarm(const struct model *model)
{
	uint64_t alarm = model->until;

	if (model->controls.off)
		return 0;
	if (controls_next(&model->controls) < alarm)
		alarm = controls_next(&model->controls);
	if (next_look(model) < alarm)
		alarm = next_look(model);
	if (model->options.wants & MODEL_WANT_TIMELINE &&
	    model->timeline.end < alarm)
		alarm = model->timeline.end;
	return alarm;
}

bool account_alarm(struct model *model, const struct trace_event *event)
{
	struct timeline_sums sums;

	if (event->stamp > model->until)
		return false;
	account_sample(model, event->stamp);
	view_advance(model, event->stamp);
	if (model->options.wants & MODEL_WANT_TIMELINE) {
		sums = sums_of(model);
		timeline_advance(&model->timeline, event->stamp, &sums);
	}
	model->alarm = next_alarm(model);
	return !model->controls.off || event->kind == GT_EXTRA;
}

/* ---- begin ---- */

void account_begin(struct model *model)
{
	/* the rate that the recorder stored first, though a better one is known
	 * by now: so a trace that is rewritten has the same classes */
	double rate = model->clock.tick_ps ?
		(double)model->clock.tick_ps / 1000 :
		clock_rate(&model->clock);

	assert(!model->begun);
	model->begun = true;
	if (!(rate > 0) || rate > 0x1p30)
		rate = 1;
	model->span_factor = (uint64_t)(rate * 0x1p32);
	model->has_freed_by = model_has_freed_by(model);
	model->follows_chains = model->deciding ||
		model->options.wants & MODEL_WANT_CHAINS;
	model->special |= model->sample_mean != 0 || model->has_freed_by ||
		model->selection != NULL || model->observer != NULL ||
		model->block_lifetimes != NULL ||
		/* if the view is known, earlier blocks are not counted */
		model->controls.view > 0 ||
		model->keys.count != 0 ||
		model->options.wants & (MODEL_WANT_HISTOGRAMS |
					MODEL_WANT_TIMELINE |
					MODEL_WANT_CHAINS);
	model->alarm = next_alarm(model);
	initial_live_begin(model);
}

/* ---- a block is allocated ---- */

/* The limit of costs is reached: returns the cost of these values if there is
 * one, otherwise the cost of unknown values. */
static uint32_t cost_beyond(struct model *model, uint32_t context,
			    uint32_t values[BLOCK_KEYS_MAX])
{
	uint32_t key, cost = CONTEXT_NO_COST;

	if (block_keys_find(&model->keys, values, &key))
		cost = contexts_find_cost(&model->contexts,
					  contexts_node(&model->contexts,
							context), key);
	if (cost != CONTEXT_NO_COST)
		return cost;
	model->beyond++;
	block_keys_unknown(&model->keys, values);
	return contexts_keyed_cost(&model->contexts, context,
				   block_keys_number(&model->keys, values));
}

/* The current block is the last one that was numbered. */
static uint32_t lifetime_of(const struct model *model)
{
	unsigned class =
		block_lifetimes_class(model->block_lifetimes, model->allocs);

	return class == BLOCK_LIFETIME_UNKNOWN ? BLOCK_KEY_UNKNOWN : class;
}

/* Adds the values that an earlier pass has found for the current block. */
static void add_found(const struct model *model, const struct block *block,
		      uint32_t values[BLOCK_KEYS_MAX])
{
	for (unsigned i = 0; i < model->keys.count; i++)
		if (model->keys.list[i] == BLOCK_KEY_LIFETIME)
			values[i] = lifetime_of(model);
		else if (model->keys.list[i] == BLOCK_KEY_MAPPING)
			values[i] = map_index_path(model->mappings,
					pools_address(block->address),
					block->alloc);
}

static uint32_t cost_of(struct model *model, const struct block *block,
			uint32_t context)
{
	uint32_t values[BLOCK_KEYS_MAX];

	if (model->keys.count == 0)
		return contexts_cost(&model->contexts, context);
	block_keys_of(&model->keys, block, values);
	if (model->block_lifetimes != NULL || model->mappings != NULL)
		add_found(model, block, values);
	if (model->options.groups_max != 0 &&
	    model->contexts.cost_count >= model->options.groups_max)
		return cost_beyond(model, context, values);
	return contexts_keyed_cost(&model->contexts, context,
				   block_keys_number(&model->keys, values));
}

/* Whether the block is selected. Measures of all blocks are in model->whole. */
static bool is_selected(struct model *model, const struct block *block,
			uint32_t context)
{
	return model->deciding ||
	       selection_keeps(model->selection, block, model->allocs,
			       contexts_node(&model->contexts, context));
}

static void add_selected(struct model *model, struct block *block,
			 uint32_t context, struct weight_amount amount)
{
	unsigned bucket = histogram_bucket(block->size);
	struct histogram_bucket *cell;

	block->cost = cost_of(model, block, context);
	DEBUG_ASSERT(block->cost < model->contexts.cost_count);
	account_add(&model->totals, &model->contexts.costs[block->cost],
		    block->alloc, amount);
	account_size(model, block->size, amount);
	if (model->options.wants & MODEL_WANT_HISTOGRAMS) {
		cell = histograms_cell(&model->histograms, block->cost,
				       HISTOGRAM_SIZES, bucket);
		cell->blocks += amount.blocks;
		cell->bytes += amount.bytes;
	}
	if (model->options.wants & MODEL_WANT_TIMELINE)
		timeline_high(&model->timeline, model->totals.live_bytes,
			      model->totals.live_blocks);
}

/*
 * Handles blocks that reports leave out: those from before the view, and,
 * unless there is a filter, those of the program's own heaps. Returns true if
 * there is nothing more to do.
 */
static bool begins_apart(struct model *model, struct block *block,
			 struct weight_amount amount)
{
	if (view_is_foreign(model, block)) {
		block->cost = CONTEXT_NO_COST;
		block->left_out = 1;
		return true;
	}
	if (!pools_has(&model->pools, block->address))
		return false;
	pools_alloc(&model->pools, block->address, block->alloc, amount);
	block->pooled = 1;
	if (model->selection != NULL)
		return false;
	block->cost = CONTEXT_NO_COST;
	block->left_out = 1;
	return true;
}

/* Numbers the block among all blocks, as every pass does. In the deciding pass
 * its end is stored by that number. */
static void number_block(struct model *model, const struct block *block)
{
	uint32_t at = blocks_number(&model->edges.blocks, block);

	model->allocs++;
	if (model->measuring)
		block_lifetimes_begin(model->block_lifetimes);
	if (!model->deciding && !model->measuring)
		return;
	GROW_TO(model->numbers, model->number_capacity, at);
	DEBUG_ASSERT(at < model->number_capacity);
	model->numbers[at] = model->allocs;
}

/* Sets the key of the block's cost, as numbered by the first pass. */
static void report_key(const struct model *model, const struct block *block)
{
	uint32_t *key = model->observer->key;

	if (key != NULL &&
	    !block_keys_translate(model->reported_keys, &model->keys,
				  model->contexts.costs[block->cost].key, key))
		*key = BLOCK_NO_KEY;
}

void account_special_alloc(struct model *model, struct block *block,
			   uint32_t context, uint32_t chain)
{
	struct weight_amount amount = amount_of(model, block->size);
	struct totals *deciding = &model->totals;

	if (model->sample_mean != 0)
		model->threads.list[block->thread].allocations +=
			WEIGHT_BETWEEN;
	if (model->selection != NULL || model->block_lifetimes != NULL)
		number_block(model, block);
	if (begins_apart(model, block, amount))
		return;
	if (model->selection != NULL) {
		if (!block->pooled)
			block_totals_begin(&model->whole, amount);
		deciding = &model->whole;
		block->left_out = !is_selected(model, block, context);
		block->cost = CONTEXT_NO_COST;
	}
	if (!block->left_out)
		add_selected(model, block, context, amount);
	if (block_totals_peak(deciding, block->alloc))
		model->totals.epoch++;
	if (chain != 0)
		chains_enter(&model->chains, chain,
			     blocks_number(&model->edges.blocks, block), block);
	if (model->observer == NULL || block->left_out)
		return;
	report_key(model, block);
	model->observer->alloc(model->observer->owner, block,
			       blocks_number(&model->edges.blocks, block),
			       model->contexts.costs[block->cost].node, chain);
}

/* ---- a block ends ---- */

/* The block's number among all allocations. */
static uint64_t number_of(const struct model *model,
			  const struct block *block)
{
	uint32_t at = blocks_number(&model->edges.blocks, block);

	DEBUG_ASSERT(at < model->number_capacity);
	DEBUG_ASSERT(model->numbers[at] > 0 &&
		     model->numbers[at] <= model->allocs);
	return model->numbers[at];
}

/* In the deciding pass. `chain`: the block's chain, or 0. */
static void decide(struct model *model, const struct block *block,
		   uint32_t chain, struct selection_end *end)
{
	end->number = number_of(model, block);
	if (selection_may(model->selection, block))
		selection_block(model->selection, block, end, chain == 0 ?
				NULL : &model->chains.list[chain]);
}

/* The node of the context that frees. */
static uint32_t freed_by(struct model *model, uint32_t by)
{
	return by == 0 ? FREED_UNKNOWN : contexts_node(&model->contexts, by);
}

/* The last block of the chain was freed at this stamp, or (`live`) is still
 * live at the end. */
static void end_chain(struct model *model, uint32_t chain, uint64_t stamp,
		      bool live)
{
	const struct selection_end end = { .stamp = stamp, .live = live };

	if (model->deciding)
		selection_chain(model->selection, &model->chains.list[chain],
				&end);
	chains_end(&model->chains, chain, stamp, live);
}

void account_chain_lost(struct model *model, uint32_t chain, uint64_t stamp)
{
	if (chain == 0)
		return;
	if (model->leaving != 0)
		chains_suspend(&model->chains, model->leaving, chain);
	else
		end_chain(model, chain, stamp, false);
	model->leaving = 0;
}

void account_chain_leaves(struct model *model, const struct trace_event *gap)
{
	uint64_t number = chain_gap_of(gap).number;
	const struct chain_gap again = { .number = number };
	uint32_t chain = chains_leave_off(&model->chains, &again);

	/* a repeated record */
	if (chain != 0)
		end_chain(model, chain, gap->stamp, false);
	model->leaving = number;
}

/* Of the first block only the size is known; whether a filter would leave it
 * out is not. */
static uint32_t first_cost(struct model *model, const struct trace_event *gap)
{
	const struct block first = { .size = gap->size };
	uint32_t values[BLOCK_KEYS_MAX];

	if (model->selection != NULL)
		return CONTEXT_NO_COST;
	if (model->keys.count == 0)
		return contexts_cost(&model->contexts, gap->context);
	block_keys_unknown(&model->keys, values);
	for (unsigned i = 0; i < model->keys.count; i++) {
		enum block_key key = model->keys.list[i];

		if (key == BLOCK_KEY_SIZE || key == BLOCK_KEY_SIZE_CLASS)
			values[i] = block_key_value(key, &first);
	}
	return contexts_keyed_cost(&model->contexts, gap->context,
				   block_keys_number(&model->keys, values));
}

uint32_t account_chain_resumes(struct model *model,
			       const struct trace_event *gap,
			       const struct trace_event *block)
{
	const struct chain_gap past = chain_gap_of(gap);

	if (past.number == 0 || block->stamp < model->controls.view)
		return 0;
	return chains_resume(&model->chains, &past, block->stamp,
			     block->address, first_cost(model, gap));
}

void account_chain_ends(struct model *model, const struct trace_event *gap)
{
	const struct chain_gap past = chain_gap_of(gap);
	uint32_t chain = chains_leave_off(&model->chains, &past);

	if (chain != 0)
		end_chain(model, chain, gap->stamp, false);
}

/* For EDGE_MOVED, returns the block's chain; otherwise 0. */
static uint32_t follow_chain(struct model *model, const struct block *block,
			     uint64_t stamp, uint32_t by, enum edge_end end)
{
	uint32_t number = blocks_number(&model->edges.blocks, block);
	uint32_t chain = chains_at(&model->chains, number);
	struct selection_end ended = {
		.stamp = stamp,
		.freed_by = freed_by(model, by),
		.temporary = end != EDGE_LOST &&
			     account_is_temporary(model, block),
	};

	if (end == EDGE_MOVED || model->leaving != 0)
		chain = chains_leave(&model->chains, number, block);
	if (model->deciding)
		decide(model, block, chain, &ended);
	if (end == EDGE_MOVED)
		return chain;
	chains_forget(&model->chains, number);
	account_chain_lost(model, chain, stamp);
	return 0;
}

static void count_freed_by(struct model *model, const struct block *block,
			   uint64_t lifetime, uint32_t by,
			   struct weight_amount amount)
{
	const struct freed_sum sum = {
		.blocks = amount.blocks,
		.bytes = amount.bytes,
		.lifetime = (double)lifetime * (double)amount.blocks,
	};

	freed_add(&model->freed, freed_by(model, by),
		  model->options.wants & MODEL_WANT_FREED_BY ? block->cost :
		  FREED_NO_COST, &sum);
}

static void keep_past(struct model *model, const struct block *block,
		      uint32_t by)
{
	size_t before = model->past_capacity;

	GROW(model->past, model->past_count, model->past_capacity);
	if (model->has_freed_by && model->past_capacity != before)
		model->past_freed_by = grow_resize(model->past_freed_by,
						   model->past_capacity,
						   sizeof(uint32_t));
	if (model->has_freed_by)
		model->past_freed_by[model->past_count] = freed_by(model, by);
	model->past[model->past_count++] = *block;
}

static void drop_selected(struct model *model, const struct block *block,
			  uint64_t stamp, uint32_t by, enum edge_end end,
			  struct weight_amount amount)
{
	struct context_cost *cost = &model->contexts.costs[block->cost];
	uint64_t lifetime = account_lifetime(block, stamp);
	struct histogram_bucket *cell;

	DEBUG_ASSERT(block->cost < model->contexts.cost_count);
	account_drop(&model->totals, cost, amount);
	if (model->selection != NULL && !model->deciding &&
	    selection_is_of_moment(model->selection))
		keep_past(model, block, by);
	if (end == EDGE_LOST)
		return;
	account_free(model, cost, block, lifetime, amount);
	if (model->has_freed_by)
		count_freed_by(model, block, lifetime, by, amount);
	if (model->options.wants & MODEL_WANT_HISTOGRAMS) {
		cell = histograms_cell(&model->histograms, block->cost,
				       HISTOGRAM_LIFETIMES,
				       histogram_bucket(account_span_ns(model,
							lifetime)));
		cell->blocks += amount.blocks;
		cell->bytes += amount.bytes;
	}
}

static void report_end(const struct model *model, const struct block *block,
		       uint64_t stamp, enum edge_end end, uint32_t chain)
{
	const struct block_observer *observer = model->observer;

	if (observer == NULL || block->left_out ||
	    (model->selection != NULL &&
	     selection_is_of_moment(model->selection)))
		return;
	report_key(model, block);
	observer->end(observer->owner, block,
		      blocks_number(&model->edges.blocks, block),
		      model->contexts.costs[block->cost].node, stamp, end,
		      chain);
}

/* The same for ends: true if there is nothing more to do. */
static bool ends_apart(struct model *model, const struct block *block,
		       uint64_t stamp, enum edge_end end,
		       struct weight_amount amount)
{
	if (view_is_foreign(model, block)) {
		model->controls.foreign += end != EDGE_LOST &&
			stamp >= model->controls.view;
		return true;
	}
	if (block->pooled)
		pools_end(&model->pools, block->address, amount,
			  end != EDGE_LOST);
	return block->pooled && model->selection == NULL;
}

uint32_t account_special_end(struct model *model, struct block *block,
			     uint64_t stamp, uint32_t by,
			     enum edge_end end)
{
	struct weight_amount amount = amount_of(model, block->size);
	uint32_t chain = 0;

	if (model->measuring)
		block_lifetimes_end(
			model->block_lifetimes, number_of(model, block),
			end == EDGE_LOST
				? BLOCK_LIFETIME_UNKNOWN
				: histogram_bucket(account_span_ns(
					  model,
					  account_lifetime(block, stamp))));
	if (ends_apart(model, block, stamp, end, amount))
		return 0;
	if (model->selection != NULL && !block->pooled) {
		DEBUG_ASSERT(model->sample_mean != 0 ||
			     model->whole.live_blocks > 0);
		block_totals_end(&model->whole, amount);
		if (end != EDGE_LOST)
			model->whole.frees += amount.blocks;
		if (end != EDGE_LOST && account_is_temporary(model, block))
			model->whole.temporary += amount.blocks;
	}
	block->temporary = end != EDGE_LOST &&
		account_is_temporary(model, block);
	if (!block->left_out)
		drop_selected(model, block, stamp, by, end, amount);
	if (model->follows_chains)
		chain = follow_chain(model, block, stamp, by, end);
	report_end(model, block, stamp, end, chain);
	return chain;
}

/* ---- the end ---- */

static void finish_size(struct model *model, const struct block *block)
{
	struct weight_amount amount = amount_of(model, block->size);
	struct size_class *sizes =
		&model->histograms.sizes[histogram_bucket(block->size)];

	sizes->live_blocks += amount.blocks;
	sizes->live_bytes += amount.bytes;
}

/* The end of the recording decides about live chains, and about fates. */
static void finish_block(struct model *model, const struct block *block)
{
	uint32_t chain = chains_at(&model->chains,
				   blocks_number(&model->edges.blocks, block));
	struct selection_end end = {
		.stamp = model->totals.last_stamp,
		.live = true,
	};

	if (model->deciding)
		decide(model, block, chain, &end);
	if (chain != 0)
		end_chain(model, chain, end.stamp, true);
}

/* The recorder that left out the last blocks of these chains was killed before
 * it recorded how they ended. */
static void finish_chains(struct model *model)
{
	uint64_t at = 0;
	uint32_t chain;

	while ((chain = chains_next_suspended(&model->chains, &at)) != 0)
		end_chain(model, chain, model->totals.last_stamp, false);
}

static void finish_selection(struct model *model)
{
	struct totals *totals = &model->totals;

	totals->peak_bytes = totals->peak_blocks = 0;
	totals->peak_stamp = model->whole.peak_stamp;
	for (size_t i = 0; i < model->contexts.cost_count; i++) {
		struct context_cost *cost = &model->contexts.costs[i];

		account_keep_peak(totals, cost);
		totals->peak_bytes += cost->peak_bytes;
		totals->peak_blocks += cost->peak_blocks;
		if (model->deciding && cost->live_blocks > 0)
			selection_live_node(model->selection, cost->node);
		if (!selection_is_of_moment(model->selection) ||
		    model->deciding)
			continue;
		cost->live_bytes = cost->total_bytes;
		cost->live_blocks = cost->allocations;
	}
	if (!model->deciding && selection_is_of_moment(model->selection)) {
		totals->live_bytes = totals->total_bytes;
		totals->live_blocks = totals->allocations;
	}
}

/* Blocks that are neither live nor freed. */
static void find_lost(struct totals *totals)
{
	totals->lost = totals->allocations - totals->live_blocks -
		totals->frees;
}

void account_settle(struct model *model)
{
	find_lost(&model->totals);
	find_lost(&model->whole);
	if (model->selection != NULL)
		finish_selection(model);
	if (model->sample_mean != 0)
		account_round(model);
	omitted_settle(&model->omitted);
	if (model->selection == NULL) {
		omitted_apply(model);
		model->whole = model->totals;
	}
}

void account_finish(struct model *model)
{
	struct timeline_sums sums = sums_of(model);
	const struct block *block;
	uint32_t number = 0;
	uint64_t at = 0;

	if (!model->begun)
		account_begin(model);
	DEBUG_ASSERT(model_is_valid(model));
	DEBUG_ASSERT(freed_is_valid(&model->freed));
	DEBUG_ASSERT(histograms_is_valid(&model->histograms));
	timeline_finish(&model->timeline, &sums);
	while ((block = blocks_next(&model->edges.blocks, &number)) != NULL)
		if (!view_is_foreign(model, block))
			finish_block(model, block);
	finish_chains(model);
	while ((block = model_next_block(model, &at)) != NULL)
		finish_size(model, block);
	account_settle(model);
}
