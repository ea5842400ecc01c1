/*
 * account_round.c: see account.h: sums of sample weights, which are in fixed
 * point (weight.h), become whole numbers.
 *
 * Called by the reader's thread.
 */
#include "cli/model/account.h"

static uint64_t whole_number(uint64_t sum, unsigned bits)
{
	return (sum + (UINT64_C(1) << (bits - 1))) >> bits;
}

#define ROUND_BLOCKS(sum) ((sum) = whole_number((sum), WEIGHT_BLOCK_BITS))
#define ROUND_BYTES(sum) ((sum) = whole_number((sum), WEIGHT_BYTE_BITS))

static void round_totals(struct totals *totals)
{
	ROUND_BLOCKS(totals->allocations);
	ROUND_BLOCKS(totals->frees);
	ROUND_BLOCKS(totals->live_blocks);
	ROUND_BLOCKS(totals->peak_blocks);
	ROUND_BLOCKS(totals->temporary);
	ROUND_BLOCKS(totals->lost);
	ROUND_BYTES(totals->total_bytes);
	ROUND_BYTES(totals->live_bytes);
	ROUND_BYTES(totals->peak_bytes);
}

static void round_cost(struct context_cost *cost)
{
	ROUND_BLOCKS(cost->allocations);
	ROUND_BLOCKS(cost->frees);
	ROUND_BLOCKS(cost->live_blocks);
	ROUND_BLOCKS(cost->peak_blocks);
	ROUND_BLOCKS(cost->own_peak_blocks);
	ROUND_BLOCKS(cost->temporary);
	ROUND_BYTES(cost->total_bytes);
	ROUND_BYTES(cost->live_bytes);
	ROUND_BYTES(cost->peak_bytes);
	ROUND_BYTES(cost->own_peak_bytes);
	cost->lifetime /= 1 << WEIGHT_BLOCK_BITS;
}

static void round_bucket(struct histogram_bucket *bucket)
{
	ROUND_BLOCKS(bucket->blocks);
	ROUND_BYTES(bucket->bytes);
}

static void round_sizes(struct size_class *sizes)
{
	ROUND_BLOCKS(sizes->allocations);
	ROUND_BLOCKS(sizes->frees);
	ROUND_BLOCKS(sizes->temporary);
	ROUND_BLOCKS(sizes->live_blocks);
	ROUND_BYTES(sizes->bytes);
	ROUND_BYTES(sizes->live_bytes);
	sizes->lifetime /= 1 << WEIGHT_BLOCK_BITS;
}

static void round_freed(struct freed_sum *sum)
{
	ROUND_BLOCKS(sum->blocks);
	ROUND_BYTES(sum->bytes);
	sum->lifetime /= 1 << WEIGHT_BLOCK_BITS;
}

static void round_timeline(struct timeline_bucket *bucket)
{
	ROUND_BYTES(bucket->live_bytes_max);
	ROUND_BYTES(bucket->live_bytes);
	ROUND_BYTES(bucket->allocated_bytes);
	ROUND_BYTES(bucket->freed_bytes);
	ROUND_BLOCKS(bucket->live_blocks_max);
	ROUND_BLOCKS(bucket->live_blocks);
	ROUND_BLOCKS(bucket->allocations);
	ROUND_BLOCKS(bucket->frees);
}

void account_round(struct model *model)
{
	struct histograms *histograms = &model->histograms;

	round_totals(&model->totals);
	round_totals(&model->whole);
	for (size_t i = 0; i < model->contexts.cost_count; i++)
		round_cost(&model->contexts.costs[i]);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		round_sizes(&histograms->sizes[i]);
		round_bucket(&histograms->lifetimes[i]);
	}
	for (size_t i = 0; i < histograms->cell_count; i++)
		round_bucket(&histograms->cells[i].sum);
	for (size_t i = 0; i < model->freed.row_count; i++)
		round_freed(&model->freed.rows[i].sum);
	for (size_t i = 1; i < model->freed.pair_count; i++)
		round_freed(&model->freed.pairs[i].sum);
	for (size_t i = 0; i < model->timeline.count; i++)
		round_timeline(&model->timeline.buckets[i]);
	for (size_t i = 1; i < model->pools.count; i++)
		round_totals(&model->pools.list[i].figures);
}
