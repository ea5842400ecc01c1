/*
 * apply.c: from events to blocks: pairs allocations with frees, and follows
 * reallocs. What a block's beginning and end mean, account.h knows.
 *
 * Pairing: stamps are right within a window. An allocation on an address that
 * is live waits for the free, a free of an address that is not live waits for
 * the allocation (pairing.h). When the window is over, the event is counted
 * as unpaired: such a free changes nothing else; such an allocation replaces
 * the block, which cannot be there any more. Where frees of blocks that are not
 * known are usual (controls.h: gap), they do not wait: the next allocation at
 * their address is another block, and not one that came too late.
 *
 * Reallocation: BEGIN marks the block as moving; it stays live until DONE, or
 * until its address is allocated again, which tells that it was freed.
 *
 *  I1  totals.live_* are the sums of all costs' live_*, and of all blocks
 *      that were not left out.
 *  I2  A moving block's lane has moving.active and moving.found set, but not
 *      moving.released, and is in by_block; no other lane is.
 *
 * Called by the reader's thread.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/model.h"
#include "cli/model/view.h"

#define LOOK_AHEAD 24		/* events whose bucket is fetched in advance, */
#define LOOK_AT_BLOCK 16	/* whose block is, */
#define LOOK_AT_COST 8		/* and whose context's figures are */

static void allocate(struct model *model, uint32_t lane,
		     const struct trace_event *event, uint32_t chain);

/* A free of the block, by free() or as a part of realloc(), from the context
 * `by`. Returns the chain that goes on. */
static inline uint32_t release(struct model *model, struct block *block,
			       uint64_t stamp, uint32_t by,
			       enum account_end end)
{
	uint32_t chain = account_end(model, block, stamp, by, end);

	blocks_remove(&model->blocks, block);
	return chain;
}

/* ---- events that wait ---- */

/* A waiting event's time is over: its counterpart never came. */
static void give_up(struct model *model, const struct pairing_entry *entry)
{
	struct block *block;

	if (entry->event.kind != GT_ALLOC) {
		view_free_unknown(model, entry->event.stamp);
		return;
	}
	if (entry->event.stamp >= model->controls.view)
		model->totals.unpaired++;
	block = blocks_find(&model->blocks, entry->event.address);
	if (block != NULL && !block->moving)
		release(model, block, entry->event.stamp, 0, ACCOUNT_LOST);
	allocate(model, entry->lane, &entry->event, entry->chain);
}

static void expire(struct model *model, uint64_t now)
{
	struct pairing_entry entry;

	while (model->waiting.count > 0 && model->waiting.expires < now) {
		pairing_take(&model->waiting, model->waiting.oldest, &entry);
		give_up(model, &entry);
	}
}

static void wait_for_pair(struct model *model, uint32_t lane,
			  const struct trace_event *event, uint32_t chain)
{
	struct pairing_entry entry;

	if (model->waiting.count == PAIRING_MAX) {
		pairing_take(&model->waiting, model->waiting.oldest, &entry);
		give_up(model, &entry);
	}
	/* A result waits as what it is to the block: an allocation. */
	if (event->kind == GT_REALLOC_DONE) {
		struct trace_event plain = *event;

		plain.kind = GT_ALLOC;
		pairing_wait(&model->waiting, &plain, lane, chain);
		return;
	}
	pairing_wait(&model->waiting, event, lane, chain);
}

/* ---- reallocation ---- */

static struct moving *moving_of(struct model *model, uint32_t lane)
{
	if (lane >= model->moving_count) {
		size_t count = (size_t)lane + 64;

		model->moving = grow_resize(model->moving, count,
					    sizeof(*model->moving));
		memset(model->moving + model->moving_count, 0,
		       (count - model->moving_count) *
		       sizeof(*model->moving));
		model->moving_count = count;
	}
	if (model->moving[lane].begun < model->controls.started)
		memset(&model->moving[lane], 0, sizeof(*model->moving));
	if (model->moving[lane].begun < model->controls.view)
		model->moving[lane].chain = 0;
	return &model->moving[lane];
}

static void mark_moving(struct model *model, uint32_t lane,
			struct block *block)
{
	block->moving = 1;
	movings_add(&model->by_block, lane, block->address);
}

/* The address of a moving block was allocated again: it is free since. */
static void release_moving(struct model *model, struct block *block,
			   uint64_t stamp)
{
	uint32_t lane = movings_find(&model->by_block, block->address);
	struct moving *moving;

	assert(lane != MOVINGS_NONE);	/* I2 */
	moving = &model->moving[lane];
	movings_remove(&model->by_block, lane);
	moving->released = true;
	moving->chain = release(model, block, stamp, moving->by,
				ACCOUNT_MOVED);
}

/* The realloc ended; what it was about stays as it is. */
static void abandon(struct model *model, struct moving *moving, uint64_t stamp)
{
	struct block *block;

	moving->active = false;
	account_chain_lost(model, moving->chain, stamp);
	moving->chain = 0;
	if (!moving->found || moving->released)
		return;
	movings_remove(&model->by_block, (uint32_t)(moving - model->moving));
	block = blocks_find(&model->blocks, moving->address);
	if (block != NULL)
		block->moving = 0;
}

static void begin_realloc(struct model *model, uint32_t lane,
			  const struct trace_event *event)
{
	struct moving *moving = moving_of(model, lane);
	struct block *block = blocks_find(&model->blocks, event->address);

	if (moving->active) {
		/* left by siglongjmp, or its result was lost */
		model->totals.unpaired++;
		abandon(model, moving, event->stamp);
	}
	memset(moving, 0, sizeof(*moving));
	moving->active = true;
	moving->address = event->address;
	moving->by = event->context;
	moving->begun = event->stamp;
	moving->found = block != NULL && !block->moving;
	if (moving->found)
		mark_moving(model, lane, block);
	else if (!model->controls.gap)
		wait_for_pair(model, lane, event, 0);
}

/* The realloc freed the old block; it ends like this. Returns the chain that
 * goes on. */
static uint32_t end_realloc(struct model *model, uint32_t lane,
			    uint64_t stamp, enum account_end end)
{
	struct moving *moving = moving_of(model, lane);
	struct pairing_entry entry;
	struct block *block;
	unsigned i;

	if (!moving->active) {	/* its BEGIN was lost, or left out */
		view_free_unknown(model, stamp);
		return 0;
	}
	moving->active = false;
	if (moving->found) {
		if (!moving->released)
			movings_remove(&model->by_block, lane);
		block = blocks_find(&model->blocks, moving->address);
		if (!moving->released && block != NULL)
			return release(model, block, stamp, moving->by, end);
		return moving->chain;
	}
	if (model->controls.gap) {
		view_free_unknown(model, stamp);
		return 0;
	}
	/* The block is not known yet: go on waiting, as a free. */
	i = pairing_find(&model->waiting, moving->address,
			 1u << GT_REALLOC_BEGIN);
	if (i == PAIRING_NONE)
		return 0;	/* given up and counted */
	pairing_take(&model->waiting, i, &entry);
	entry.event.kind = GT_FREE;
	pairing_wait(&model->waiting, &entry.event, lane, 0);
	return 0;
}

static void fail_realloc(struct model *model, uint32_t lane, uint64_t stamp)
{
	struct moving *moving = moving_of(model, lane);
	struct pairing_entry entry;
	unsigned i;

	if (!moving->active) {
		model->totals.unpaired += !model->controls.gap;
		return;
	}
	abandon(model, moving, stamp);
	if (moving->found)
		return;
	i = pairing_find(&model->waiting, moving->address,
			 1u << GT_REALLOC_BEGIN);
	if (i != PAIRING_NONE)
		pairing_take(&model->waiting, i, &entry);
}

/* ---- allocation and free ---- */

/* A free or the beginning of a realloc had come before this allocation. */
static void settle_waiting(struct model *model, uint64_t address)
{
	struct block *block = blocks_find(&model->blocks, address);
	struct pairing_entry entry;
	struct moving *moving;
	unsigned i = pairing_find(&model->waiting, address,
				  1u << GT_FREE | 1u << GT_REALLOC_BEGIN);

	if (i == PAIRING_NONE || block == NULL)
		return;
	pairing_take(&model->waiting, i, &entry);
	model->totals.repaired++;
	if (entry.event.kind == GT_FREE) {
		release(model, block, entry.event.stamp, entry.event.context,
			ACCOUNT_FREED);
		return;
	}
	moving = moving_of(model, entry.lane);
	if (moving->active && !moving->found && moving->address == address) {
		moving->found = true;
		mark_moving(model, entry.lane, block);
	}
}

static void allocate(struct model *model, uint32_t lane,
		     const struct trace_event *event, uint32_t chain)
{
	struct thread *owner = &model->threads.list[lane >> 1];
	struct block *block;
	int is_new;

	block = blocks_add(&model->blocks, event->address, &is_new);
	if (!is_new) {
		if (!block->moving) {
			wait_for_pair(model, lane, event, chain);
			return;
		}
		release_moving(model, block, event->stamp);
		block = blocks_add(&model->blocks, event->address, &is_new);
	}
	*block = (struct block){
		.address = event->address,
		.size = event->size,
		.birth = event->stamp,
		.sequence = ++owner->allocations & BLOCK_SEQUENCE,
		.layout = event->layout & BLOCK_LAYOUT,
		.thread = lane >> 1,
	};
	account_birth(model, block, event->context, chain);
	if (model->waiting.count > 0)
		settle_waiting(model, event->address);
}

static void deallocate(struct model *model, uint32_t lane,
		       const struct trace_event *event)
{
	struct block *block = blocks_find(&model->blocks, event->address);
	struct pairing_entry entry;
	unsigned i;

	if (block == NULL || block->moving) {
		if (block == NULL && model->controls.gap)
			view_free_unknown(model, event->stamp);
		else
			wait_for_pair(model, lane, event, 0);
		return;
	}
	release(model, block, event->stamp, event->context, ACCOUNT_FREED);
	if (model->waiting.count == 0)
		return;
	i = pairing_find(&model->waiting, event->address, 1u << GT_ALLOC);
	if (i == PAIRING_NONE)
		return;
	pairing_take(&model->waiting, i, &entry);
	model->totals.repaired++;
	allocate(model, entry.lane, &entry.event, entry.chain);
}

/* What is not about a block: handed to who keeps it. */
static void model_extra(struct model *model, uint32_t lane,
			const struct trace_event *event)
{
	threads_extra(&model->threads, lane >> 1, event);
	if (event->what == GT_EXTRA_LEFT_OUT)
		model->threads.list[lane >> 1].allocations += event->size;
	if (event->stamp >= model->controls.view)
		damages_extra(&model->damages, &model->contexts, lane >> 1,
			      event);
	tuning_extra(&model->tuning, &model->contexts, lane >> 1, event);
	if (model->with_maps)
		maps_extra(&model->maps, lane, event);
	if (event->what < GT_EXTRA_COUNT)
		model->extras[event->what]++;
	else
		model->extras[0]++;
}

static void apply(struct model *model, uint32_t lane,
		  const struct trace_event *event)
{
	if (event->kind == GT_EXTRA) {
		model_extra(model, lane, event);
		return;
	}
	if (event->address == 0) {	/* no recorder writes that */
		model->totals.unpaired++;
		return;
	}
	if (event->kind == GT_ALLOC) {
		allocate(model, lane, event, 0);
		return;
	}
	if (event->kind == GT_FREE) {
		deallocate(model, lane, event);
		return;
	}
	switch (event->kind) {
	case GT_REALLOC_BEGIN:
		begin_realloc(model, lane, event);
		break;
	case GT_REALLOC_DONE:
		allocate(model, lane, event,
			 end_realloc(model, lane, event->stamp,
				     ACCOUNT_MOVED));
		break;
	case GT_REALLOC_FREED:
		account_chain_lost(model, end_realloc(model, lane,
						      event->stamp,
						      ACCOUNT_FREED),
				   event->stamp);
		break;
	case GT_REALLOC_FAILED:
		fail_realloc(model, lane, event->stamp);
		break;
	}
}

/*
 * What an event touches lies all over the memory: it is fetched in three
 * steps, each of which follows what the one before it has brought. Kinds come
 * in no order, and nothing may branch on them: numbers are taken by masks, as
 * compilers make branches of conditions; block 0 stands for "none". To gcc 12 a
 * function that only prefetches does nothing, and a call of it is left out: so
 * there must be no call.
 */
static inline __attribute__((always_inline)) void
look_ahead(const struct model *model, const struct trace_event *events,
	   size_t i, size_t count)
{
	const struct trace_event *event;
	const struct context_ref *ref;
	uint32_t frees, number;

	if (i + LOOK_AHEAD < count) {
		event = &events[i + LOOK_AHEAD];
		blocks_prefetch(&model->blocks, event->address);
		contexts_prefetch(&model->contexts, event->context);
	}
	if (i + LOOK_AT_BLOCK < count) {
		event = &events[i + LOOK_AT_BLOCK];
		frees = 0 - (uint32_t)(event->kind != GT_ALLOC);
		number = blocks_glance(&model->blocks, event->address);
		blocks_prefetch_block(&model->blocks, number & frees);
	}
	if (i + LOOK_AT_COST >= count)
		return;
	event = &events[i + LOOK_AT_COST];
	frees = 0 - (uint32_t)(event->kind != GT_ALLOC);
	number = blocks_glance(&model->blocks, event->address) & frees;
	number = model->blocks.list[number].cost;
	ref = contexts_ref(&model->contexts, event->context);
	if (ref != NULL)
		number ^= (number ^ ref->cost) & ~frees;
	contexts_prefetch_cost(&model->contexts, number);
}

static void note_undefined(struct model *model)
{
	faults_note(&model->report.faults, FAULT_CONTEXT,
		    model->contexts.undefined - model->undefined);
	model->undefined = model->contexts.undefined;
}

void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count)
{
	struct model *model = owner;

	if (!model->begun)
		account_begin(model);
	if (model->tap != NULL && model->tap->thread != NULL)
		*model->tap->thread = lane >> 1;
	for (size_t i = 0; i < count && i < LOOK_AHEAD; i++)
		blocks_prefetch(&model->blocks, events[i].address);
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		look_ahead(model, events, i, count);
		if (event->stamp > model->waiting.expires)
			expire(model, event->stamp);
		if (event->stamp >= model->alarm &&
		    !account_alarm(model, event))
			continue;
		if (model->with_maps)
			maps_event(&model->maps, event);
		apply(model, lane, event);
	}
	model->threads.list[lane >> 1].events += count;
	if (model->contexts.undefined != model->undefined)
		note_undefined(model);
	if (events[count - 1].stamp > model->totals.last_stamp)
		model->totals.last_stamp = events[count - 1].stamp;
}

void model_finish(struct model *model)
{
	threads_settle(&model->threads);
	view_advance(model, model->until);
	/* The program ended inside these reallocs: their blocks live. */
	for (size_t i = 0; i < model->moving_count; i++)
		if (moving_of(model, (uint32_t)i)->active)
			abandon(model, &model->moving[i],
				model->totals.last_stamp);
	while (model->waiting.count > 0) {
		struct pairing_entry entry;

		pairing_take(&model->waiting, model->waiting.oldest, &entry);
		give_up(model, &entry);
	}
	account_finish(model);
	contexts_settle(&model->contexts);
}
