/*
 * edges.c: see edges.h: everything except the common path.
 *
 *  I1  The lane of a moving block has active and found set, but not released,
 *      and is in by_block; no other lane is.
 *  I2  `waiting` has a free of an unknown block only if the gap was not known
 *      when it came, or if it was beyond `settled`.
 *
 * Called by the reader's thread, or the recorder.
 */
#include "cli/model/core/edges.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/try_alloc.h"
#include "unwind/base/assertion.h"

static void odd(struct edges *edges, enum edge_odd what, uint64_t stamp)
{
	edges->sink->odd(edges->owner, what, stamp);
}

static void allocate(struct edges *edges, uint32_t lane,
		     const struct trace_event *event, uint32_t chain,
		     bool is_odd)
{
	edges_allocate(edges, edges->sink, lane, event, chain, is_odd);
}

/* A free of the block, by free() or by realloc(), in the lane, from the context
 * `by`. Returns the chain that continues. */
static uint32_t release(struct edges *edges, struct block *block, uint32_t lane,
			uint64_t stamp, uint32_t by, enum edge_end end)
{
	uint32_t chain;

	edges->ender = lane + 1;
	chain = edges->sink->end(edges->owner, block, stamp, by, end);
	edges->ender = 0;
	blocks_remove(&edges->blocks, block);
	return chain;
}

/* ---- events that wait ---- */

/* Gives up the oldest entry: its time is over without a counterpart. */
static void give_up(struct edges *edges)
{
	struct pairing_entry entry;
	struct block *block;

	DEBUG_ASSERT(edges->waiting.count > 0);
	pairing_take(&edges->waiting, edges->waiting.oldest, &entry);
	DEBUG_ASSERT(entry.event.kind == GT_ALLOC ||
		     entry.event.kind == GT_FREE ||
		     entry.event.kind == GT_REALLOC_BEGIN);
	if (entry.event.kind != GT_ALLOC) {
		odd(edges, EDGE_UNKNOWN, entry.event.stamp);
		return;
	}
	odd(edges, EDGE_UNPAIRED, entry.event.stamp);
	block = blocks_find(&edges->blocks, entry.event.address);
	if (block != NULL && !block->pending)
		release(edges, block, entry.lane, entry.event.stamp, 0,
			EDGE_LOST);
	allocate(edges, entry.lane, &entry.event, entry.chain, true);
}

void edges_expire(struct edges *edges, uint64_t stamp)
{
	while (edges->waiting.count > 0 && edges->waiting.expires < stamp)
		give_up(edges);
}

static void wait_for_pair(struct edges *edges, uint32_t lane,
			  const struct trace_event *event, uint32_t chain,
			  bool known)
{
	struct pairing_entry entry = { *event, lane, chain, known };

	if (edges->waiting.count == PAIRING_MAX)
		give_up(edges);
	DEBUG_ASSERT(edges->waiting.count < PAIRING_MAX);
	/* The result of a realloc waits as an allocation. */
	if (event->kind == GT_REALLOC_DONE)
		entry.event.kind = GT_ALLOC;
	pairing_wait(&edges->waiting, &entry);
}

/* A free, or the begin of a realloc, whose block is not known or is moving.
 * False: it is dropped, since the allocation was not recorded. */
static bool wait_for_block(struct edges *edges, uint32_t lane,
			   const struct trace_event *event,
			   struct block *block)
{
	if (block == NULL && edges->gap && event->stamp < edges->settled)
		return false;
	if (block != NULL)
		block->odd = 1;
	wait_for_pair(edges, lane, event, 0, block != NULL);
	return true;
}

/* Whether a waiting free belongs to the block of this allocation. In a gap it
 * may belong to an unknown earlier block. */
static bool is_of(const struct edges *edges, const struct pairing_entry *entry,
		  uint32_t lane, const struct trace_event *allocation)
{
	return !edges->gap || entry->known ||
	       entry->event.stamp > allocation->stamp ||
	       (entry->event.stamp == allocation->stamp &&
		entry->lane != lane);
}

/* Takes the free, or the begin of a realloc, that came before this allocation.
 * False: there is none. */
static bool take_free(struct edges *edges, uint32_t lane,
		      const struct trace_event *allocation,
		      struct pairing_entry *entry)
{
	unsigned i;

	while ((i = pairing_find(&edges->waiting, allocation->address,
				 1u << GT_FREE | 1u << GT_REALLOC_BEGIN)) !=
	       PAIRING_NONE) {
		pairing_take(&edges->waiting, i, entry);
		if (is_of(edges, entry, lane, allocation))
			return true;
		odd(edges, EDGE_UNKNOWN, entry->event.stamp);
	}
	return false;
}

/* ---- reallocation ---- */

#ifdef GNOMON_DEBUG_ASSERTS
/* Whether the lane has a pending realloc of a known block. */
static bool has_pending(const struct edges *edges, uint32_t lane)
{
	const struct edges_pending *pending = &edges->pending[lane];

	return pending->generation == edges->generation && pending->active &&
	       pending->found && !pending->released;
}

bool edges_is_valid(const struct edges *edges)
{
	const struct block *block;
	uint32_t number = 0;
	uint64_t marked = 0, moved = 0;

	while ((block = blocks_next(&edges->blocks, &number)) != NULL)
		marked += block->pending;
	for (uint32_t i = 0; i < edges->lane_count; i++) {
		if (!has_pending(edges, i))
			continue;
		block = blocks_find(&edges->blocks, edges->pending[i].address);
		if (block == NULL || !block->pending ||
		    pending_reallocs_find(&edges->by_block, block->address) !=
			    i)
			return false;
		moved++;
	}
	return marked == moved &&	/* I1 */
	       blocks_is_valid(&edges->blocks) &&
	       pairing_is_valid(&edges->waiting);
}
#endif

bool edges_reach(struct edges *edges, uint32_t lane)
{
	struct edges_pending *pending;
	size_t count;

	if (lane < edges->lane_count)
		return true;
	if (!pending_reallocs_reach(&edges->by_block, lane))
		return false;
	count = (size_t)1 << edges->by_block.bits;
	pending = try_alloc_resize(edges->pending, count, sizeof(*pending));
	if (pending == NULL)
		return false;
	memset(pending + edges->lane_count, 0,
	       (count - edges->lane_count) * sizeof(*pending));
	edges->pending = pending;
	edges->lane_count = count;
	assert(lane < edges->lane_count);
	DEBUG_ASSERT(edges_is_valid(edges));
	return true;
}

static struct edges_pending *pending_of(struct edges *edges, uint32_t lane)
{
	struct edges_pending *pending = &edges->pending[lane];

	assert(lane < edges->lane_count);
	if (pending->generation != edges->generation)
		memset(pending, 0, sizeof(*pending));
	if (pending->chains != edges->chains)
		pending->chain = 0;
	return pending;
}

const struct edges_pending *edges_pending_of(struct edges *edges, uint32_t lane)
{
	static const struct edges_pending none;

	return lane < edges->lane_count ? pending_of(edges, lane) : &none;
}

static void mark_pending(struct edges *edges, uint32_t lane,
			 struct block *block)
{
	DEBUG_ASSERT(!block->pending);	/* I1 */
	block->pending = 1;
	pending_reallocs_add(&edges->by_block, lane, block->address);
	DEBUG_ASSERT(pending_reallocs_find(&edges->by_block, block->address) ==
		     lane);
}

bool edges_put_pending(struct edges *edges, uint32_t lane,
		       const struct edges_pending *pending)
{
	struct edges_pending *to = pending_of(edges, lane);
	struct block *block = blocks_find(&edges->blocks, pending->address);
	bool marks = pending->found && !pending->released;

	if (to->active || (marks && (block == NULL || block->pending)))
		return false;
	*to = *pending;
	to->active = true;
	to->generation = edges->generation;
	to->chains = edges->chains;
	if (marks)
		mark_pending(edges, lane, block);
	return true;
}

bool edges_put_waiting(struct edges *edges, const struct pairing_entry *entry)
{
	if (edges->waiting.count == PAIRING_MAX ||
	    (entry->event.kind != GT_ALLOC && entry->event.kind != GT_FREE &&
	     entry->event.kind != GT_REALLOC_BEGIN))
		return false;
	pairing_wait(&edges->waiting, entry);
	return true;
}

/* The address of a moving block was allocated again: so it was freed. */
static void release_pending(struct edges *edges, struct block *block,
			    uint64_t stamp)
{
	uint32_t lane = pending_reallocs_find(&edges->by_block, block->address);
	struct edges_pending *pending;

	assert(lane != PENDING_REALLOCS_NONE);	/* I1 */
	pending = &edges->pending[lane];
	DEBUG_ASSERT(pending->found && !pending->released);	/* I1 */
	DEBUG_ASSERT(pending->active && pending->address == block->address);
	pending_reallocs_remove(&edges->by_block, lane);
	pending->released = true;
	pending->chain = release(edges, block, lane, stamp, pending->by,
				 EDGE_MOVED);
	pending->chains = edges->chains;	/* set even if BEGIN was before
					 * forget_chains */
}

/* The realloc has ended; its block stays as it is. */
static void abandon(struct edges *edges, struct edges_pending *pending,
		    uint64_t stamp)
{
	struct block *block;

	DEBUG_ASSERT(pending->active);
	pending->active = false;
	edges->sink->chain_lost(edges->owner, pending->chain, stamp);
	pending->chain = 0;
	if (!pending->found || pending->released)
		return;
	pending_reallocs_remove(&edges->by_block,
				(uint32_t)(pending - edges->pending));
	block = blocks_find(&edges->blocks, pending->address);
	DEBUG_ASSERT(block != NULL && block->pending); /* I1 */
	if (block != NULL)
		block->pending = 0;
}

/* The same, and its BEGIN stops waiting. */
static void forgo(struct edges *edges, struct edges_pending *pending,
		  uint64_t stamp)
{
	struct pairing_entry entry;
	unsigned i;

	abandon(edges, pending, stamp);
	if (pending->found)
		return;
	i = pairing_find(&edges->waiting, pending->address,
			 1u << GT_REALLOC_BEGIN);
	if (i != PAIRING_NONE)
		pairing_take(&edges->waiting, i, &entry);
}

static void begin_realloc(struct edges *edges, uint32_t lane,
			  const struct trace_event *event)
{
	struct edges_pending *pending = pending_of(edges, lane);
	struct block *block = blocks_find(&edges->blocks, event->address);

	if (pending->active) {
		/* left by siglongjmp, or its result was lost */
		odd(edges, EDGE_UNPAIRED, event->stamp);
		forgo(edges, pending, event->stamp);
	}
	*pending = (struct edges_pending){
		.address = event->address,
		.by = event->context,
		.generation = edges->generation,
		.chains = edges->chains,
		.active = true,
		.found = block != NULL && !block->pending,
	};
	if (pending->found)
		mark_pending(edges, lane, block);
	else
		pending->unknown = !wait_for_block(edges, lane, event, block);
}

/* The realloc freed the old block, which ends with `end`. Returns the chain
 * that continues. *whole: nothing about it is odd. */
static uint32_t end_realloc(struct edges *edges, uint32_t lane, uint64_t stamp,
			    enum edge_end end, bool *whole)
{
	struct edges_pending *pending = pending_of(edges, lane);
	struct pairing_entry entry;
	struct block *block;
	unsigned i;

	*whole = false;
	if (!pending->active || pending->unknown) {
		/* BEGIN or the block was lost or left out */
		pending->active = false;
		odd(edges, EDGE_UNKNOWN, stamp);
		return 0;
	}
	pending->active = false;
	if (pending->found) {
		if (pending->released)
			return pending->chain;
		pending_reallocs_remove(&edges->by_block, lane);
		block = blocks_find(&edges->blocks, pending->address);
		assert(block != NULL);
		DEBUG_ASSERT(block->pending); /* I1 */
		*whole = true;
		return release(edges, block, lane, stamp, pending->by, end);
	}
	/* The block is not known yet: keep waiting, as a free. */
	i = pairing_find(&edges->waiting, pending->address,
			 1u << GT_REALLOC_BEGIN);
	if (i == PAIRING_NONE)
		return 0;	/* given up and counted */
	pairing_take(&edges->waiting, i, &entry);
	entry.event.kind = GT_FREE;
	entry.lane = lane;
	pairing_wait(&edges->waiting, &entry);
	return 0;
}

static void fail_realloc(struct edges *edges, uint32_t lane, uint64_t stamp)
{
	struct edges_pending *pending = pending_of(edges, lane);

	if (pending->active)
		forgo(edges, pending, stamp);
	else if (!edges->gap)
		odd(edges, EDGE_UNPAIRED, stamp);
}

void edges_realloc(struct edges *edges, uint32_t lane,
		   const struct trace_event *event)
{
	uint32_t chain;
	bool whole;

	switch (event->kind) {
	case GT_REALLOC_BEGIN:
		begin_realloc(edges, lane, event);
		break;
	case GT_REALLOC_DONE:
		chain = end_realloc(edges, lane, event->stamp, EDGE_MOVED,
				    &whole);
		allocate(edges, lane, event, chain, !whole);
		break;
	case GT_REALLOC_FREED:
		chain = end_realloc(edges, lane, event->stamp, EDGE_FREED,
				    &whole);
		edges->sink->chain_lost(edges->owner, chain, event->stamp);
		break;
	case GT_REALLOC_FAILED:
		fail_realloc(edges, lane, event->stamp);
		break;
	}
}

/* ---- allocation and free ---- */

/* An allocation at an address with a live block. */
void edges_allocate_live(struct edges *edges, uint32_t lane,
			 const struct trace_event *event, uint32_t chain,
			 struct block *block)
{
	DEBUG_ASSERT(block->address == event->address);
	block->odd = 1;
	if (!block->pending) {
		wait_for_pair(edges, lane, event, chain, true);
		return;
	}
	release_pending(edges, block, event->stamp);
	allocate(edges, lane, event, chain, true);
}

/* A free, or the begin of a realloc, may have come before the allocation of its
 * block. */
void edges_settle_free(struct edges *edges, uint32_t lane,
		       const struct trace_event *event)
{
	struct pairing_entry entry;
	struct edges_pending *pending;
	struct block *block = blocks_find(&edges->blocks, event->address);

	DEBUG_ASSERT(block != NULL && !block->pending);
	/* Another allocation waits for the address. Which of the two is first
	 * is not known; the end of this one allows the other to begin. */
	if (pairing_find(&edges->waiting, event->address, 1u << GT_ALLOC) !=
	    PAIRING_NONE)
		block->odd = 1;
	if (!take_free(edges, lane, event, &entry))
		return;
	odd(edges, EDGE_REPAIRED, event->stamp);
	block->odd = 1;
	if (entry.event.kind == GT_FREE) {
		release(edges, block, entry.lane, entry.event.stamp,
			entry.event.context, EDGE_FREED);
		return;
	}
	pending = pending_of(edges, entry.lane);
	if (pending->active && !pending->found &&
	    pending->address == event->address) {
		pending->found = true;
		mark_pending(edges, entry.lane, block);
	}
}

/* A free of a block that is not known, or is moving. */
void edges_free_unknown(struct edges *edges, uint32_t lane,
			const struct trace_event *event, struct block *block)
{
	if (!wait_for_block(edges, lane, event, block))
		odd(edges, EDGE_UNKNOWN, event->stamp);
}

/* The address is free now: an allocation may have come before that. */
void edges_settle_allocation(struct edges *edges, uint64_t address)
{
	struct pairing_entry entry;
	unsigned i = pairing_find(&edges->waiting, address, 1u << GT_ALLOC);

	if (i == PAIRING_NONE)
		return;
	pairing_take(&edges->waiting, i, &entry);
	DEBUG_ASSERT(entry.event.kind == GT_ALLOC);
	odd(edges, EDGE_REPAIRED, entry.event.stamp);
	allocate(edges, entry.lane, &entry.event, entry.chain, true);
}

void edges_resume(struct edges *edges, uint32_t lane,
		  const struct trace_event *event, uint32_t chain)
{
	DEBUG_ASSERT(event->kind == GT_ALLOC && event->address != 0);
	allocate(edges, lane, event, chain, false);
}

void edges_take(struct edges *edges, uint32_t lane,
		const struct trace_event *event)
{
	edges_event(edges, edges->sink, lane, event);
}

/* ---- begin and end ---- */

bool edges_init(struct edges *edges, const struct edges_sink *sink,
		void *owner, size_t max)
{
	memset(edges, 0, sizeof(*edges));
	edges->sink = sink;
	edges->owner = owner;
	edges->settled = UINT64_MAX;
	edges->waiting.expires = UINT64_MAX;
	return blocks_try_init(&edges->blocks, max);
}

void edges_free(struct edges *edges)
{
	blocks_free(&edges->blocks);
	pending_reallocs_free(&edges->by_block);
	free(edges->pending);
	edges->pending = NULL;
	edges->lane_count = 0;
}

void edges_lane_ends(struct edges *edges, uint32_t lane, uint64_t stamp)
{
	struct edges_pending *pending = pending_of(edges, lane);

	if (pending->active)
		forgo(edges, pending, stamp);
}

void edges_forget(struct edges *edges)
{
	const struct block *block;
	uint32_t number = 0;

	while ((block = blocks_next(&edges->blocks, &number)) != NULL)
		if (block->pending)
			pending_reallocs_remove(
				&edges->by_block,
				pending_reallocs_find(&edges->by_block,
						      block->address));
	blocks_clear(&edges->blocks);
	pairing_clear(&edges->waiting);
	edges->generation++;
	DEBUG_ASSERT(edges_is_valid(edges));
}

void edges_forget_chains(struct edges *edges)
{
	struct pairing_slot *slots = edges->waiting.slots;

	edges->chains++;
	for (unsigned i = edges->waiting.oldest; i != PAIRING_NONE;
	     i = slots[i].newer)
		slots[i].entry.chain = 0;
}

void edges_finish(struct edges *edges, uint64_t stamp)
{
	DEBUG_ASSERT(edges_is_valid(edges));
	for (size_t i = 0; i < edges->lane_count; i++)
		if (pending_of(edges, (uint32_t)i)->active)
			abandon(edges, &edges->pending[i], stamp);
	while (edges->waiting.count > 0)
		give_up(edges);
	DEBUG_ASSERT(edges_is_valid(edges));
}
