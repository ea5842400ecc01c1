/*
 * index_pairing.c: see index_pairing.h. Edges have the same meaning as in the
 * model (account.c, view.c), for all blocks.
 *
 *  I1  allocs[n].chain is chains_at(chains, n), for each live block.
 *  I2  Edges are numbered from 1, without gaps, in the order in which they were
 *      reported.
 */
#include "cli/model/index/index_pairing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/core/weight.h"
#include "cli/model/model_state.h"
#include "unwind/base/assertion.h"

#define LOOK_AHEAD 24		/* events before use at which the bucket is
				 * prefetched, */
#define LOOK_AT_BLOCK 12	/* and the block */

/* ---- rows ---- */

static uint32_t node_of(struct index_pairing *pairing, uint32_t context)
{
	const struct context_ref *ref = contexts_ref(
		model_contexts(pairing->model), context);
	uint32_t node = __builtin_expect(ref != NULL && ref->node != 0, 1) ?
		ref->node : model_node(pairing->model, context);

	pairing->undefined += node == CONTEXT_UNDEFINED;
	return node;
}

static uint64_t between(const struct index_pairing *pairing,
			const struct block *block)
{
	DEBUG_ASSERT(block->thread < pairing->thread_capacity);
	return (pairing->allocations[block->thread] - block->sequence) &
		BLOCK_SEQUENCE;
}

/* The row without the data of its end. */
static struct store_row row_of(const struct index_pairing *pairing,
			       const struct block *block, uint32_t number)
{
	const struct index_alloc *alloc = &pairing->allocs[number];
	uint32_t chain = alloc->chain;

	return (struct store_row){
		.begin = block->alloc,
		.alloc_edge = alloc->edge,
		.address = block->address,
		.size = block->size,
		.between = between(pairing, block),
		.thread = block->thread,
		.node = alloc->node,
		.end_thread = STORE_NONE,
		.end_node = STORE_NONE,
		.chain = chain != 0 ? pairing->chain_numbers[chain] : 0,
		.place = chain != 0 ?
			(uint32_t)pairing->chains.list[chain].length : 0,
		.layout = block->layout,
		.how = STORE_LIVE,
		.flags = (uint8_t)((block->odd ? STORE_ODD : 0) |
				   (block->pooled ? STORE_POOLED : 0)),
	};
}

/* ---- edges ---- */

struct index_alloc *index_pairing_alloc(struct index_pairing *pairing,
					uint32_t number)
{
	if (__builtin_expect(number >= pairing->alloc_capacity, 0))
		GROW_TO(pairing->allocs, pairing->alloc_capacity, number);
	return &pairing->allocs[number];
}

static inline void add_live(struct index_pairing *pairing,
			    const struct block *block)
{
	struct weight_amount amount = weight_block(block->size,
						   pairing->sample_mean);
	struct index_peak *peak = &pairing->peak;

	peak->live_bytes += amount.bytes;
	peak->live_blocks += amount.blocks;
	if (peak->live_bytes <= peak->bytes)
		return;
	peak->bytes = peak->live_bytes;
	peak->blocks = peak->live_blocks;
	peak->edge = pairing->edge_count;
	peak->stamp = block->alloc;
}

static inline void drop_live(struct index_pairing *pairing,
			     const struct block *block)
{
	struct weight_amount amount = weight_block(block->size,
						   pairing->sample_mean);

	pairing->peak.live_bytes -= amount.bytes;
	pairing->peak.live_blocks -= amount.blocks;
}

static inline void alloc(void *owner, struct block *block, uint32_t lane,
			 uint32_t context, uint32_t chain)
{
	struct index_pairing *pairing = owner;
	uint32_t number = blocks_number(&pairing->edges.blocks, block);
	uint64_t *allocations = &pairing->allocations[lane >> 1];

	DEBUG_ASSERT(lane >> 1 < pairing->thread_capacity);
	block->sequence = ++*allocations & BLOCK_SEQUENCE;
	if (pairing->sampled)
		*allocations += WEIGHT_BETWEEN;
	block->thread = lane >> 1;
	block->cost = CONTEXT_NO_COST;
	block->pooled = pools_has(model_pools(pairing->model), block->address);
	*index_pairing_alloc(pairing, number) = (struct index_alloc){
		.edge = ++pairing->edge_count,		/* I2 */
		.node = node_of(pairing, context),
		.chain = chain,
	};
	if (__builtin_expect(!block->pooled, 1))
		add_live(pairing, block);
	if (__builtin_expect(chain != 0, 0))
		chains_enter(&pairing->chains, chain, number, block);
}

void index_pairing_number(struct index_pairing *pairing, uint32_t index)
{
	GROW_TO(pairing->chain_numbers, pairing->chain_capacity, index);
	pairing->chain_numbers[index] = ++pairing->chain_count;
}

void index_pairing_chain_lost(struct index_pairing *pairing, uint32_t chain)
{
	if (chain == 0)
		return;
	if (pairing->leaving != 0)
		chains_suspend(&pairing->chains, pairing->leaving, chain);
	else
		chains_end(&pairing->chains, chain, 0, false);
	pairing->leaving = 0;
}

/* The block is about to be replaced: gives it a chain if it has none. */
static uint32_t leave_chain(struct index_pairing *pairing,
			    const struct block *block, uint32_t number)
{
	struct index_alloc *entry = &pairing->allocs[number];
	uint32_t chain = chains_leave(&pairing->chains, number, block);

	DEBUG_ASSERT(entry->chain == 0 || entry->chain == chain);	/* I1 */
	if (entry->chain == 0)
		index_pairing_number(pairing, chain);
	entry->chain = chain;
	return chain;
}

/* Passes on the row before its chain ends. */
static uint32_t end_chained(struct index_pairing *pairing,
			    const struct block *block, uint32_t number,
			    struct store_row *row, enum edge_end end)
{
	uint32_t chain = pairing->allocs[number].chain;

	if (end == EDGE_MOVED || pairing->leaving != 0)
		chain = leave_chain(pairing, block, number);
	row->chain = pairing->chain_numbers[chain];
	row->place = (uint32_t)pairing->chains.list[chain].length;
	pairing->report(pairing->owner, row);
	if (end == EDGE_MOVED)
		return chain;
	chains_forget(&pairing->chains, number);
	index_pairing_chain_lost(pairing, chain);
	return 0;
}

static void keep_sequence(struct index_pairing *pairing,
			  const struct block *block)
{
	GROW(pairing->sequences, pairing->sequence_count,
	     pairing->sequence_capacity);
	pairing->sequences[pairing->sequence_count++] = block->sequence;
}

static inline __attribute__((always_inline)) uint32_t
end(void *owner, struct block *block, uint64_t stamp, uint32_t by,
    enum edge_end how)
{
	static const uint8_t hows[] = {
		[EDGE_FREED] = STORE_FREED, [EDGE_MOVED] = STORE_MOVED,
		[EDGE_LOST] = STORE_LOST,
	};
	struct index_pairing *pairing = owner;
	uint32_t number = blocks_number(&pairing->edges.blocks, block);
	uint32_t ender = pairing->edges.ender;
	struct store_row row = row_of(pairing, block, number);

	row.end = stamp;
	row.end_edge = ++pairing->edge_count;		/* I2 */
	if (__builtin_expect(!block->pooled, 1))
		drop_live(pairing, block);
	row.how = hows[how];
	if (how != EDGE_LOST) {
		row.end_thread = (ender ? ender - 1 : pairing->lane) >> 1;
		if (by != 0)
			row.end_node = node_of(pairing, by);
	}
	pairing->ended++;
	if (__builtin_expect(row.alloc_edge <= pairing->taken_edges, 0))
		keep_sequence(pairing, block);
	if (__builtin_expect(row.chain != 0 || how == EDGE_MOVED ||
			     pairing->leaving != 0, 0))
		return end_chained(pairing, block, number, &row, how);
	pairing->report(pairing->owner, &row);
	return 0;
}

static void chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	(void)stamp;
	index_pairing_chain_lost(owner, chain);
}

static bool is_later(const void *list, size_t i, uint64_t stamp)
{
	return ((const struct control *)list)[i].stamp > stamp;
}

static struct index_stretch *stretch(struct index_pairing *pairing, size_t at)
{
	GROW_TO(pairing->stretches, pairing->stretch_capacity, at);
	return &pairing->stretches[at];
}

static void odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	struct index_pairing *pairing = owner;
	size_t at = search_first(pairing->controls->list, pairing->next_control,
				 is_later, stamp);

	if (what == EDGE_REPAIRED)
		stretch(pairing, pairing->next_control)->repaired++;
	else if (what == EDGE_UNKNOWN && pairing->edges.gap)
		stretch(pairing, at)->foreign++;
	else
		stretch(pairing, at)->unpaired++;
}

static void refused(void *owner, uint32_t lane)
{
	const struct index_pairing *pairing = owner;

	(void)lane;
	grow_failed(pairing->edges.blocks.used * sizeof(struct block));
}

static const struct edges_sink sink = {
	.alloc = alloc,
	.end = end,
	.chain_lost = chain_lost,
	.odd = odd,
	.refused = refused,
};

/* ---- live blocks in their order ---- */

struct listed {
	uint64_t edge;
	uint32_t number;
};

static int by_edge(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	return sort_up(a->edge, b->edge);
}

/* Live blocks by allocation edge, to be freed. */
static struct listed *list_live(const struct index_pairing *pairing,
				size_t *count)
{
	const struct blocks *blocks = &pairing->edges.blocks;
	struct listed *list = grow_alloc(blocks->count * sizeof(*list));
	uint32_t number = 0;

	*count = 0;
	while (blocks_next(blocks, &number) != NULL)
		list[(*count)++] = (struct listed){
			pairing->allocs[number].edge, number };
	DEBUG_ASSERT(*count == blocks->count);
	SORT(list, *count, by_edge);
	return list;
}

void index_pairing_live(const struct index_pairing *pairing,
			void (*report)(void *owner,
				       const struct store_row *row),
			void *owner)
{
	size_t count;
	struct listed *list = list_live(pairing, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = list[i].number;
		struct store_row row = row_of(pairing,
			&pairing->edges.blocks.list[number], number);

		report(owner, &row);
	}
	free(list);
}

/* ---- commands to the recorder ---- */

/* Ends all blocks as LOST: their fate is not known. In the order of allocation
 * edges, since numbers of blocks differ in a resumed reading. */
static void drop_blocks(struct index_pairing *pairing, uint64_t stamp)
{
	size_t count;
	struct listed *list = list_live(pairing, &count);

	for (size_t i = 0; i < count && stamp > 0; i++)
		end(pairing, &pairing->edges.blocks.list[list[i].number],
		    stamp, 0, EDGE_LOST);
	free(list);
	edges_forget(&pairing->edges);
}

static void advance(struct index_pairing *pairing, uint64_t stamp)
{
	const struct controls *controls = pairing->controls;

	while (pairing->next_control < controls->count &&
	       controls->list[pairing->next_control].stamp <= stamp) {
		const struct control *control =
			&controls->list[pairing->next_control++];

		if (control->what == GT_CONTROL_STOP)
			pairing->off = true;
		if (control->what != GT_CONTROL_START)
			continue;
		drop_blocks(pairing, control->stamp);
		pairing->off = false;
		pairing->edges.gap = true;
	}
}

static void set_alarm(struct index_pairing *pairing)
{
	const struct controls *controls = pairing->controls;

	pairing->alarm = pairing->off ? 0 :
		pairing->next_control < controls->count ?
		controls->list[pairing->next_control].stamp : UINT64_MAX;
}

bool index_pairing_alarm(struct index_pairing *pairing,
			 const struct trace_event *event)
{
	advance(pairing, event->stamp);
	set_alarm(pairing);
	return !pairing->off || event->kind == GT_EXTRA;
}

/* ---- the first event ---- */

void index_pairing_reach(struct index_pairing *pairing, uint32_t lane)
{
	if (!edges_reach(&pairing->edges, lane))
		grow_failed((size_t)lane * sizeof(struct edges_pending));
	GROW_TO(pairing->allocations, pairing->thread_capacity, lane >> 1);
	GROW_TO(pairing->thread_events, pairing->event_capacity, lane >> 1);
}

void index_pairing_head(struct index_pairing *pairing)
{
	bool gap = pairing->edges.gap;

	model_pair_alike(pairing->model, &pairing->edges);
	pairing->edges.gap |= gap;
	pairing->head = false;
}

static void bear(struct index_pairing *pairing, const struct trace_live *live)
{
	struct block *block;
	int is_new;

	index_pairing_reach(pairing, live->ring << 1);
	block = blocks_add(&pairing->edges.blocks, live->address, &is_new);
	if (!is_new)
		return;		/* a repeated record */
	*block = (struct block){
		.address = live->address,
		.size = live->size,
		.alloc = live->stamp,
	};
	alloc(pairing, block, live->ring << 1, live->context, 0);
}

static void begin(struct index_pairing *pairing)
{
	struct initial_live *part = &pairing->part;
	size_t threads = model_threads(pairing->model)->count;

	pairing->begun = true;
	pairing->sampled = model_is_sampled(pairing->model);
	pairing->sample_mean = model_sample_mean(pairing->model);
	index_pairing_head(pairing);
	if (part->count == 0)
		return;
	initial_live_sort(part);
	for (size_t i = 0; i < part->count; i++) {
		advance(pairing, part->blocks[i].stamp);
		if (!pairing->off)
			bear(pairing, &part->blocks[i]);
	}
	for (size_t i = 0; i < threads; i++) {
		index_pairing_reach(pairing, (uint32_t)i << 1);
		pairing->allocations[i] += INITIAL_LIVE_BETWEEN;
	}
	initial_live_free(part);
}

/* ---- events ---- */

/* Prefetches as model_apply.c does, without costs. */
static inline __attribute__((always_inline)) void
look_ahead(const struct index_pairing *pairing,
	   const struct trace_event *events, size_t i, size_t count)
{
	const struct blocks *blocks = &pairing->edges.blocks;
	uint32_t number;

	if (i + LOOK_AHEAD < count)
		blocks_prefetch(blocks, events[i + LOOK_AHEAD].address);
	if (i + LOOK_AT_BLOCK >= count)
		return;
	number = blocks_glance(blocks, events[i + LOOK_AT_BLOCK].address);
	number &= 0 - (uint32_t)(events[i + LOOK_AT_BLOCK].kind != GT_ALLOC);
	blocks_prefetch_block(blocks, number);
	__builtin_prefetch((const char *)pairing->allocs +
			   (size_t)number * sizeof(struct index_alloc));
}

/* True: the event is about a chain. */
static bool take_extra(struct index_pairing *pairing,
		       const struct trace_event *event)
{
	if (event->what == GT_EXTRA_LEFT_OUT)
		pairing->allocations[pairing->lane >> 1] += event->size;
	if (pairing->maps != NULL)
		maps_extra(pairing->maps, pairing->lane, event);
	return event->what >= GT_EXTRA_CHAIN_LEAVES &&
	       event->what <= GT_EXTRA_CHAIN_ENDS;
}

/* Takes events from the i-th on, up to one that is about a chain: returns its
 * index, or `count`. */
static size_t run(struct index_pairing *pairing,
		  const struct trace_event *events, size_t i, size_t count)
{
	for (; i < count; i++) {
		const struct trace_event *event = &events[i];

		look_ahead(pairing, events, i, count);
		edges_advance(&pairing->edges, event->stamp);
		if (event->stamp >= pairing->alarm &&
		    !index_pairing_alarm(pairing, event))
			continue;
		if (pairing->maps != NULL)
			maps_event(pairing->maps, event);
		if (__builtin_expect(event->kind != GT_EXTRA, 1))
			edges_event(&pairing->edges, &sink, pairing->lane,
				    event);
		else if (take_extra(pairing, event))
			break;
	}
	return i;
}

static void take_events(void *owner, uint32_t lane,
			const struct trace_event *events, size_t count)
{
	struct index_pairing *pairing = owner;
	size_t i;

	DEBUG_ASSERT(count > 0);
	if (!pairing->begun)
		begin(pairing);
	if (pairing->head)
		index_pairing_head(pairing);
	index_pairing_reach(pairing, lane);
	set_alarm(pairing);
	pairing->lane = lane;
	i = pairing->chains.note_count == 0 ? 0 :
		index_gap_noted(pairing, events);
	while ((i = run(pairing, events, i, count)) < count)
		i += index_gap_take(pairing, events + i, count - i);
	pairing->events += count;
	pairing->thread_events[lane >> 1] += count;
	if (events[count - 1].stamp > pairing->last_stamp)
		pairing->last_stamp = events[count - 1].stamp;
}

static uint32_t take_lane(void *owner, uint32_t ring, bool *nested)
{
	const struct index_pairing *pairing = owner;

	return model_lane_of_ring(pairing->model, ring, nested);
}

static void take_live(void *owner, const struct trace_live *block)
{
	struct index_pairing *pairing = owner;
	bool nested;

	/* Not valid after events. */
	if (pairing->begun || block->address == 0)
		return;
	initial_live_put(&pairing->part, block, block->ring == UINT32_MAX ? 0 :
			 take_lane(owner, block->ring, &nested) >> 1);
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct index_pairing *pairing = owner;

	pairing->head |= chunk->type == GT_INFO;
	return pairing->chunk == NULL ? READER_DECODE :
		pairing->chunk(pairing->owner, chunk);
}

void index_pairing_observer(struct index_pairing *pairing,
			    struct model_observer *companion)
{
	*companion = (struct model_observer){
		.owner = pairing, .chunk = take_chunk, .lane = take_lane,
		.live = take_live, .events = take_events,
	};
}

void index_pairing_follow_maps(struct index_pairing *pairing)
{
	struct model *model = pairing->model;

	ASSERT(!pairing->begun && !model->with_maps);
	model->with_maps = true;
	pairing->maps = &model->maps;
	/* the model's own edges have no blocks */
	pairing->maps->blocks = &pairing->edges.blocks;
}

void index_pairing_finish(struct index_pairing *pairing)
{
	if (!pairing->begun)
		begin(pairing);
	advance(pairing, UINT64_MAX);
	edges_finish(&pairing->edges, pairing->last_stamp);
	if (pairing->maps != NULL)
		maps_finish(pairing->maps);
	assert(pairing->edges.waiting.count == 0);
}

void index_pairing_init(struct index_pairing *pairing, struct model *model,
			void (*report)(void *owner,
				       const struct store_row *row),
			void *owner)
{
	memset(pairing, 0, sizeof(*pairing));
	pairing->model = model;
	pairing->controls = model_controls(model);
	pairing->report = report;
	pairing->owner = owner;
	if (!edges_init(&pairing->edges, &sink, pairing, 0))
		grow_failed(sizeof(pairing->edges));
}

void index_pairing_free(struct index_pairing *pairing)
{
	edges_free(&pairing->edges);
	chains_free(&pairing->chains);
	initial_live_free(&pairing->part);
	free(pairing->allocs);
	free(pairing->allocations);
	free(pairing->thread_events);
	free(pairing->chain_numbers);
	free(pairing->stretches);
	free(pairing->sequences);
}
