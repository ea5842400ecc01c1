/*
 * ledger.c: see ledger.h. Updates the sums when cli/model/core/edges.h reports
 * that a block begins or ends. The results equal those of a reader of the trace
 * (cli/model/account.c).
 *
 * FOREIGN BLOCKS. Blocks live at a clear stay in the table, so that their frees
 * are recognised, but they are not counted (view).
 *
 * I1: each block's context has a ledger_figure.
 *
 * The writer only.
 */
#include "cli/recorder/books/ledger_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "unwind/claim.h"

/* Bytes of the memory budget for one live block, including its entries in other
 * tables. */
#define LEDGER_BLOCK 96

/* ---- a block begins ---- */

/* Counts a new block. Returns whether live bytes have a new maximum. */
static bool ledger_count_begin(struct ledger *ledger,
			       const struct block *block)
{
	struct ledger_figure *figure = ledger_figure_at(ledger, block->cost);
	struct ledger_class *class =
		&ledger->classes[ledger_class_of(block->size)];
	struct weigh_amount amount = weigh_block(block->size, ledger->mean);

	CLAIM_FULL(block->cost <= ledger->figure_count);
	class->blocks += amount.blocks;
	class->bytes += amount.bytes;
	if (!figure->sum.blocks)
		figure->first = block->birth;
	figure->last = block->birth;
	ledger_sum_add(&figure->sum, amount, block->birth);
	ledger_sum_add(&ledger_thread_of(ledger, block)->sum, amount,
		       block->birth);
	return ledger_sum_add(&ledger->all, amount, block->birth);
}

/* Calls the tap. The block gets the slot of its allocation, if that is the
 * current event. */
static void ledger_tell_begin(struct ledger *ledger, const struct block *block,
			      uint32_t chain)
{
	uint32_t number = blocks_number(&ledger->edges.blocks, block);

	if (grown_reach(&ledger->slots,
			(number + UINT64_C(1)) * sizeof(uint32_t)))
		ledger_set_slot(ledger, number,
				block->odd ? 0 : ledger->now.slot);
	ledger->tap.begun(ledger->tap.owner, block, number, chain);
}

static inline void ledger_birth(void *owner, struct block *block,
				uint32_t lane, uint32_t context,
				uint32_t chain)
{
	struct ledger *ledger = owner;
	uint32_t ring = ledger_ring_at(ledger, lane)->owner;
	struct ledger_thread *thread;
	bool peak = false;

	block->thread = ledger_ring_at(ledger, ring)->thread;
	block->cost = ledger_figure_number(ledger, context);
	assert(block->cost != 0);	/* I1 */
	thread = ledger_thread_of(ledger, block);
	CLAIM_FULL(block->thread < ledger->thread_count);
	thread->blocks++;
	block->sequence = ++thread->allocations & BLOCK_SEQUENCE;
	if (unlikely(ledger_is_apart(ledger, block)))
		block->odd = 1;
	else
		peak = ledger_count_begin(ledger, block);
	if (ledger->tap.begun)
		ledger_tell_begin(ledger, block, chain);
	if (peak && ledger->tap.peak)
		ledger->tap.peak(ledger->tap.owner);
}

/* ---- a block ends ---- */

static void ledger_count_end(struct ledger *ledger, const struct block *block,
			     const struct ledger_end *end)
{
	struct ledger_figure *figure = ledger_figure_at(ledger, block->cost);
	struct ledger_class *class =
		&ledger->classes[ledger_class_of(block->size)];
	struct ledger_lives *lives;
	struct weigh_amount amount = weigh_block(block->size, ledger->mean);
	uint64_t lifetime = end->tick > block->birth ?
				    end->tick - block->birth : 0;

	CLAIM_FULL(block->cost != 0 && block->cost <= ledger->figure_count);
	ledger_sum_end(&ledger->all, amount);
	ledger_sum_end(&figure->sum, amount);
	ledger_sum_end(&ledger_thread_of(ledger, block)->sum, amount);
	class->frees += amount.blocks;
	class->freed += amount.bytes;
	CLAIM_FULL(class->frees <= class->blocks);
	if (end->lost)
		return;
	lives = &ledger->lives[ledger_class_of(lifetime / 1000 *
					       ledger->tick_ps +
					       lifetime % 1000 *
					       ledger->tick_ps / 1000)];
	lives->blocks += amount.blocks;
	lives->bytes += amount.bytes;
	lifetime = weigh_lifetime(lifetime, amount.blocks, ledger->mean);
	class->temporary += end->temporary;
	class->lifetime += lifetime;
	figure->temporary += end->temporary;
	figure->lifetime += lifetime;
}

static uint32_t ledger_tell_end(const struct ledger *ledger,
				const struct block *block,
				struct ledger_end *end)
{
	const struct ledger_source *now = &ledger->now;

	end->realloc = ledger->now_realloc;
	end->slot = now->slot;
	if (end->realloc)
		end->begin = ledger_ring_at(ledger, now->ring)->begin;
	return ledger->tap.ended(ledger->tap.owner, block,
				 blocks_number(&ledger->edges.blocks, block),
				 end);
}

static inline uint32_t ledger_end(void *owner, struct block *block,
				  uint64_t stamp, uint32_t by,
				  enum edge_end how)
{
	struct ledger *ledger = owner;
	struct ledger_thread *thread = ledger_thread_of(ledger, block);
	struct ledger_end end = {
		.tick = stamp, .by = by, .lost = how == EDGE_LOST,
		.moved = how == EDGE_MOVED,
		/* allocations in between may not be in the sample */
		.temporary = !ledger->mean && how != EDGE_LOST &&
			(thread->allocations & BLOCK_SEQUENCE) ==
				block->sequence,
	};

	uint32_t chain = 0;

	CLAIM_FULL(thread->blocks > 0);
	if (likely(!ledger_is_apart(ledger, block)))
		ledger_count_end(ledger, block, &end);
	if (ledger->tap.ended)
		chain = ledger_tell_end(ledger, block, &end);
	ledger_thread_drop(ledger, thread);
	return chain;
}

/* ---- other callbacks of edges ---- */

static void ledger_chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	const struct ledger *ledger = owner;

	if (chain && ledger->tap.chain_lost)
		ledger->tap.chain_lost(ledger->tap.owner, chain, stamp);
}

static void ledger_odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	struct ledger *ledger = owner;

	(void)stamp;
	ledger->unpaired += what == EDGE_UNPAIRED ||
			    (what == EDGE_UNKNOWN && !ledger->edges.gap);
}

static void ledger_refused(void *owner, uint32_t lane)
{
	struct ledger *ledger = owner;
	uint32_t ring = ledger_ring_at(ledger, lane)->owner;

	ledger_thread_at(ledger, ring)->allocations++;
	ledger->refused++;
}

static const struct edges_sink ledger_sink = {
	.birth = ledger_birth,
	.end = ledger_end,
	.chain_lost = ledger_chain_lost,
	.odd = ledger_odd,
	.refused = ledger_refused,
};

/* ---- events ---- */

int ledger_init(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max,
		uint32_t window_ticks, uint64_t mean)
{
	memset(ledger, 0, sizeof(*ledger));
	if (!edges_init(&ledger->edges, &ledger_sink, ledger,
			bytes / LEDGER_BLOCK))
		return -ENOMEM;
	ledger->edges.waiting.window = window_ticks;
	ledger->edges.settled = 0;
	ledger->mean = mean;
	return ledger_tables(ledger, bytes, nodes_max);
}

/* Handles an allocation without memory for its context's ledger_figure. */
static void ledger_refuse(struct ledger *ledger, uint32_t ring,
			  const struct trace_event *event)
{
	struct trace_event freed = *event;

	ledger->edges.gap = true;
	ledger_refused(ledger, ring);
	freed.kind = GT_REALLOC_FREED;
	if (event->kind == GT_REALLOC_DONE)
		edges_event(&ledger->edges, &ledger_sink, ring, &freed);
}

void ledger_event(struct ledger *ledger, const struct ledger_source *from,
		  const struct trace_event *event)
{
	struct edges *edges = &ledger->edges;

	if (unlikely(!ledger_reach_ring(ledger, from->ring) ||
		     !ledger_reach_ring(ledger, from->owner) ||
		     !edges_reach(edges, from->ring)))
		return;
	edges_advance(edges, event->stamp);
	ledger->now = *from;
	ledger->now_realloc = event->kind != GT_FREE;
	CLAIM_FULL(from->ring < GL_RINGS_MAX && from->owner < GL_RINGS_MAX);
	ledger_ring_at(ledger, from->ring)->owner = from->owner;
	if (event->kind == GT_REALLOC_BEGIN)
		ledger_ring_at(ledger, from->ring)->begin = from->slot;
	if ((event->kind == GT_ALLOC || event->kind == GT_REALLOC_DONE) &&
	    unlikely(!ledger_figure_number(ledger, event->context)))
		ledger_refuse(ledger, from->ring, event);
	else
		edges_event(edges, &ledger_sink, from->ring, event);
}

void ledger_settle(struct ledger *ledger, uint64_t tick)
{
	ledger->edges.settled = tick;
	edges_expire(&ledger->edges, tick);
}

void ledger_finish(struct ledger *ledger)
{
	edges_finish(&ledger->edges, ledger->edges.settled);
	CLAIM_FULL(ledger_is_valid(ledger));
}

void ledger_forget_begin(struct ledger *ledger, uint32_t ring, uint32_t slot)
{
	struct ledger_ring *of = ledger_ring_at(ledger, ring);

	if (of->begin == slot)
		of->begin = 0;
}
