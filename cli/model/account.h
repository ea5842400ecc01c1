/*
 * account.h: what an allocation and a free do to the measures of the context
 * and to the totals. Private to the model.
 *
 * There are two paths. The plain path, inline, is for a trace with all blocks,
 * read without a filter and only for the measures. The special path, account.c,
 * does the same work and everything else. The path does not change while a
 * trace is read.
 *
 * Share of the peak: each new maximum of live bytes begins an epoch. A
 * context's value at the last maximum is stored only when the live value of the
 * context is about to change in a later epoch. Until then the value at the
 * maximum equals the live value. So a new maximum costs one increment, however
 * many contexts there are.
 */
#ifndef GNOMON_ACCOUNT_H
#define GNOMON_ACCOUNT_H

#include "cli/model/core/edges.h"
#include "cli/model/core/weight.h"
#include "cli/model/model_state.h"
#include "cli/model/block_observer.h"
#include "unwind/base/assertion.h"

/* The block is new and complete except for its cost. `chain`: the chain of
 * which it is the last block, or 0. */
void account_special_alloc(struct model *model, struct block *block,
			   uint32_t context, uint32_t chain);
/* `by`: the context that frees, 0 if not known. For EDGE_MOVED, returns the
 * chain that continues with the next block; 0: none. */
uint32_t account_special_end(struct model *model, struct block *block,
			     uint64_t stamp, uint32_t by,
			     enum edge_end end);
/* A chain that was held by a realloc has no block any more; 0: none. */
void account_chain_lost(struct model *model, uint32_t chain, uint64_t stamp);
/* What an EXTRA says about a chain with blocks missing in the trace: the chain
 * continues after the next event, with blocks that are missing; the block of
 * the next event continues the chain (returned; 0: none); the chain has
 * ended. */
void account_chain_leaves(struct model *model, const struct trace_event *gap);
uint32_t account_chain_resumes(struct model *model,
			       const struct trace_event *gap,
			       const struct trace_event *block);
void account_chain_ends(struct model *model, const struct trace_event *gap);
/* Prepare to read; the head of the trace is known. */
void account_begin(struct model *model);
/* An event at or after model->alarm: false if it does not count. */
bool account_alarm(struct model *model, const struct trace_event *event);
/* Call the `look` functions (model_at_moments) whose moments are at or before
 * this stamp. No later event has been applied. */
void account_sample(struct model *model, uint64_t stamp);
/* All events have been read. */
void account_finish(struct model *model);
/* A part of account_finish: everything is counted, in `totals` and costs, and
 * in `whole` where blocks are selected. Computes what depends on these sums,
 * and rounds sums of a sample to whole numbers. */
void account_settle(struct model *model);
/* A part of account_settle, for a sample: rounds all sums to whole numbers,
 * once. */
void account_round(struct model *model);

/* model_span_ns. */
static inline uint64_t account_span_ns(const struct model *model,
				       uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * model->span_factor >> 32);
}

static inline void account_keep_peak(const struct totals *totals,
				     struct context_cost *cost)
{
	if (cost->epoch == totals->epoch)
		return;
	cost->peak_bytes = cost->live_bytes;
	cost->peak_blocks = cost->live_blocks;
	cost->epoch = totals->epoch;
}

static inline void account_add(struct totals *totals,
			       struct context_cost *cost, uint64_t stamp,
			       struct weight_amount amount)
{
	account_keep_peak(totals, cost);
	if (cost->allocations == 0)
		cost->first = stamp;
	cost->last = stamp;
	cost->allocations += amount.blocks;
	cost->total_bytes += amount.bytes;
	cost->live_blocks += amount.blocks;
	cost->live_bytes += amount.bytes;
	if (cost->live_bytes > cost->own_peak_bytes) {
		cost->own_peak_bytes = cost->live_bytes;
		cost->own_peak_blocks = cost->live_blocks;
		cost->own_peak_stamp = stamp;
	}
	block_totals_begin(totals, amount);
}

static inline void account_drop(struct totals *totals,
				struct context_cost *cost,
				struct weight_amount amount)
{
	account_keep_peak(totals, cost);
	/* bytes are not checked: in a hostile trace sums may overflow */
	DEBUG_ASSERT(amount.blocks != 1 || (cost->live_blocks > 0 &&
					    totals->live_blocks > 0));
	cost->live_bytes -= amount.bytes;
	cost->live_blocks -= amount.blocks;
	block_totals_end(totals, amount);
}

static inline bool account_is_temporary(const struct model *model,
					const struct block *block)
{
	uint64_t now = model->threads.list[block->thread].allocations;

	DEBUG_ASSERT(block->thread < model->threads.count);
	return ((now - block->sequence) & BLOCK_SEQUENCE) <=
	       model->options.temporary;
}

/* A free of the block; the caller also calls account_drop. */
static inline void account_free(struct model *model, struct context_cost *cost,
				const struct block *block, uint64_t lifetime,
				struct weight_amount amount)
{
	struct size_class *sizes =
		&model->histograms.sizes[histogram_bucket(block->size)];
	struct histogram_bucket *lifetimes =
		&model->histograms.lifetimes[
			histogram_bucket(account_span_ns(model, lifetime))];
	double sum = (double)lifetime * (double)amount.blocks;
	/* No branch on this: it is not predictable. */
	uint64_t temporary = amount.blocks &
		(0 - (uint64_t)account_is_temporary(model, block));

	cost->frees += amount.blocks;
	cost->lifetime += sum;
	model->totals.frees += amount.blocks;
	sizes->frees += amount.blocks;
	sizes->lifetime += sum;
	lifetimes->blocks += amount.blocks;
	lifetimes->bytes += amount.bytes;
	cost->temporary += temporary;
	model->totals.temporary += temporary;
	sizes->temporary += temporary;
}

static inline void account_size(struct model *model, uint64_t size,
				struct weight_amount amount)
{
	struct size_class *sizes =
		&model->histograms.sizes[histogram_bucket(size)];

	sizes->allocations += amount.blocks;
	sizes->bytes += amount.bytes;
}

/* The lifetime is 0 if the two events came out of order. */
static inline uint64_t account_lifetime(const struct block *block,
					uint64_t stamp)
{
	/* by a mask: which stamps are equal is not predictable */
	return (stamp - block->alloc) &
		(0 - (uint64_t)(stamp > block->alloc));
}

/* ---- called by model_events ---- */

static inline void account_alloc(struct model *model, struct block *block,
				 uint32_t context, uint32_t chain)
{
	const struct weight_amount one = { 1, block->size };

	if (__builtin_expect(model->special, 0)) {
		account_special_alloc(model, block, context, chain);
		return;
	}
	block->cost = contexts_cost(&model->contexts, context);
	account_add(&model->totals, &model->contexts.costs[block->cost],
		    block->alloc, one);
	account_size(model, block->size, one);
	if (block_totals_peak(&model->totals, block->alloc))
		model->totals.epoch++;
}

static inline __attribute__((always_inline)) uint32_t
account_end(struct model *model, struct block *block, uint64_t stamp,
	    uint32_t by, enum edge_end end)
{
	const struct weight_amount one = { 1, block->size };
	struct context_cost *cost;

	if (__builtin_expect(model->special, 0))
		return account_special_end(model, block, stamp, by, end);
	cost = &model->contexts.costs[block->cost];
	DEBUG_ASSERT(block->cost < model->contexts.cost_count);
	account_drop(&model->totals, cost, one);
	if (end != EDGE_LOST)
		account_free(model, cost, block,
			     account_lifetime(block, stamp), one);
	return 0;
}

#endif
