/*
 * ledger.c: see ledger.h. Pairing and reallocs are as a reader of the trace
 * does them (cli/model/apply.c), so figures come out the same.
 *
 * FOREIGN BLOCKS. What a clear finds live stays in the table, so that its free
 * is known for what it is; it is not counted (view). Where blocks began unseen
 * (gap), a free of one that is not known is that of such a block, and must not
 * meet the next one at its address: an allocation only takes a waiting free
 * whose stamp is later than its own. Such a free waits at all only where events
 * may still come out of order.
 *
 * I1: with LEDGER_MOVING in its flags a block is that of one ring's realloc:
 *     active, found and not released.
 *
 * The writer only.
 */
#include "cli/recorder/books/ledger_table.h"

#include <stdatomic.h>
#include <string.h>

#define LEDGER_FREES (1u << GT_FREE | 1u << GT_REALLOC_BEGIN)
#define LEDGER_ALLOCS (1u << GT_ALLOC)

/* Blocks of another heap lie in blocks of the allocator: they are known, but
 * not counted, and stay in the trace. The same goes for foreign ones. */
static bool ledger_is_apart(const struct ledger *ledger,
			    const struct ledger_block *block)
{
	return block->address >> GL_HEADER_SHIFT ||
	       unlikely(ledger_is_foreign(ledger, block));
}

static void ledger_count_end(struct ledger *ledger,
			     const struct ledger_block *block,
			     const struct ledger_end *end)
{
	struct ledger_figure *figure = ledger_figure_at(ledger,
							block->figure);
	struct ledger_class *class =
		&ledger->classes[ledger_class_of(block->size)];
	struct ledger_thread *thread = ledger_thread_at(ledger, block->ring);
	struct ledger_lives *lives;
	struct weigh_amount amount = weigh_block(block->size, ledger->mean);
	uint64_t lifetime = end->tick > block->tick ?
				    end->tick - block->tick : 0;

	if (ledger_is_apart(ledger, block))
		return;
	ledger_sum_end(&ledger->all, amount);
	ledger_sum_end(&figure->sum, amount);
	if (thread->serial == block->thread)
		ledger_sum_end(&thread->sum, amount);
	class->frees += amount.blocks;
	class->freed += amount.bytes;
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

static void ledger_end(struct ledger *ledger, struct ledger_block *block,
		       struct ledger_end *end)
{
	const struct ledger_thread *thread =
		ledger_thread_at(ledger, block->ring);

	/* what was allocated in between may not be in the sample */
	end->temporary = !ledger->mean && !end->lost &&
			 thread->serial == block->thread &&
			 thread->allocations == block->sequence;
	ledger_count_end(ledger, block, end);
	if (ledger->tap.ended)
		ledger->tap.ended(ledger->tap.owner, block, end);
	ledger_remove(ledger, block);
}

/* Whether it is a new maximum. */
static bool ledger_count_begin(struct ledger *ledger,
			       const struct ledger_block *block)
{
	struct ledger_thread *thread = ledger_thread_at(ledger, block->ring);
	struct ledger_figure *figure = ledger_figure_at(ledger,
							block->figure);
	struct ledger_class *class =
		&ledger->classes[ledger_class_of(block->size)];
	struct weigh_amount amount = weigh_block(block->size, ledger->mean);

	class->blocks += amount.blocks;
	class->bytes += amount.bytes;
	if (!figure->sum.blocks)
		figure->first = block->tick;
	figure->last = block->tick;
	ledger_sum_add(&figure->sum, amount, block->tick);
	ledger_sum_add(&thread->sum, amount, block->tick);
	return ledger_sum_add(&ledger->all, amount, block->tick);
}

static void ledger_begin(struct ledger *ledger, struct ledger_block *block,
			 const struct ledger_event *event, bool odd)
{
	const struct ledger_thread *thread =
		ledger_thread_at(ledger, event->owner);
	bool peak = false;

	block->size = event->size;
	block->tick = event->tick;
	block->slot = event->slot;
	block->sequence = thread->allocations;
	block->thread = thread->serial;
	block->ring = event->owner;
	block->flags = odd || ledger_is_apart(ledger, block) ? LEDGER_ODD : 0;
	if (likely(!ledger_is_apart(ledger, block)))
		peak = ledger_count_begin(ledger, block);
	if (ledger->tap.begun)
		ledger->tap.begun(ledger->tap.owner, block);
	if (peak && ledger->tap.peak)
		ledger->tap.peak(ledger->tap.owner);
}

/* ---- events that wait for others ---- */

static void ledger_allocate(struct ledger *ledger,
			    const struct ledger_event *event, bool odd);

static uint16_t *ledger_present(struct ledger_waiting *waiting,
				uint64_t address)
{
	return &waiting->present[ledger_hash(address) % LEDGER_WAITING];
}

static struct ledger_event *ledger_waiting_at(struct ledger_waiting *waiting,
					      uint32_t i)
{
	return &waiting->event[waiting->first + i];
}

static void ledger_set_expiry(struct ledger *ledger)
{
	struct ledger_waiting *waiting = ledger->waiting;

	waiting->expires = waiting->count ?
		ledger_waiting_at(waiting, 0)->tick + ledger->window :
		UINT64_MAX;
}

static int ledger_waits(struct ledger_waiting *waiting, uint64_t address,
			unsigned kinds)
{
	uint32_t i;

	if (likely(!waiting->count) || !*ledger_present(waiting, address))
		return -1;
	for (i = 0; i < waiting->count; i++)
		if (ledger_waiting_at(waiting, i)->address == address &&
		    kinds >> ledger_waiting_at(waiting, i)->kind & 1)
			return i;
	return -1;
}

static struct ledger_event ledger_wait_end(struct ledger *ledger, uint32_t i)
{
	struct ledger_waiting *waiting = ledger->waiting;
	struct ledger_event *at = ledger_waiting_at(waiting, i), event = *at;

	--*ledger_present(waiting, event.address);
	waiting->count--;
	if (i == 0)
		waiting->first++;
	else
		memmove(at, at + 1, (waiting->count - i) * sizeof(*at));
	ledger_set_expiry(ledger);
	return event;
}

/* What it waits for never came. */
static void ledger_give_up(struct ledger *ledger)
{
	struct ledger_event event = ledger_wait_end(ledger, 0);
	struct ledger_block *block;

	ledger->unpaired += event.kind == GT_ALLOC || !ledger->gap;
	if (event.kind != GT_ALLOC)
		return;
	block = ledger_find(ledger, event.address);
	if (block && !(block->flags & LEDGER_MOVING))
		ledger_end(ledger, block, &(struct ledger_end){
						  .tick = event.tick,
						  .lost = true });
	ledger_allocate(ledger, &event, true);
}

static void ledger_wait(struct ledger *ledger,
			const struct ledger_event *event)
{
	struct ledger_waiting *waiting = ledger->waiting;
	struct ledger_event *to;

	if (waiting->count == LEDGER_WAITING)
		ledger_give_up(ledger);
	if (waiting->first == LEDGER_WAITING) {
		memmove(waiting->event, ledger_waiting_at(waiting, 0),
			waiting->count * sizeof(*to));
		waiting->first = 0;
	}
	to = ledger_waiting_at(waiting, waiting->count++);
	*to = *event;
	if (event->kind == GT_REALLOC_DONE)
		to->kind = GT_ALLOC;	/* what it is to the block */
	++*ledger_present(waiting, event->address);
	ledger_set_expiry(ledger);
}

/* ---- events ---- */

static struct ledger_block *ledger_new(struct ledger *ledger,
				       const struct ledger_event *event)
{
	uint32_t figure = ledger_figure_number(ledger, event->context);
	struct ledger_block *block = figure ?
		ledger_add(ledger, event->address) : NULL;

	if (block) {
		block->figure = figure;
		return block;
	}
	ledger->refused++;
	ledger->gap = true;
	return NULL;
}

/* The address of a moving block is another's: it is free since. */
static void ledger_release_moving(struct ledger *ledger,
				  struct ledger_block *block, uint64_t tick)
{
	uint32_t i;

	for (i = 0; i < GL_RINGS_MAX; i++) {
		struct ledger_moving *moving = ledger_moving_of(ledger, i);

		if ((uint64_t)(i + 1) * sizeof(*moving) > ledger->moving.ready)
			break;
		if (!moving->active || !moving->found || moving->released ||
		    moving->address != block->address)
			continue;
		moving->released = true;
		block->flags |= LEDGER_ODD;
		ledger_end(ledger, block, &(struct ledger_end){
						  .tick = tick,
						  .kind = GT_REALLOC_DONE,
						  .by = moving->by });
		return;
	}
}

/* The free, or the beginning of a realloc, that had come before this
 * allocation of its block. False: there is none. */
static bool ledger_take_free(struct ledger *ledger,
			     const struct ledger_event *allocation,
			     struct ledger_event *event)
{
	int i;

	do {
		i = ledger_waits(ledger->waiting, allocation->address,
				 LEDGER_FREES);
		if (i < 0)
			return false;
		*event = ledger_wait_end(ledger, i);
		/* or it was of the one before this, which nobody knew */
	} while (ledger->gap &&
		 (event->tick < allocation->tick ||
		  (event->tick == allocation->tick &&
		   event->ring == allocation->ring)));
	return true;
}

static void ledger_allocate_settle(struct ledger *ledger,
				   struct ledger_block *block,
				   const struct ledger_event *allocation)
{
	struct ledger_moving *moving;
	struct ledger_event event;

	if (!ledger_take_free(ledger, allocation, &event))
		return;
	block->flags |= LEDGER_ODD;
	if (event.kind == GT_FREE) {
		ledger_end(ledger, block, &(struct ledger_end){
						  .tick = event.tick,
						  .kind = GT_FREE,
						  .by = event.context });
		return;
	}
	moving = ledger_moving_of(ledger, event.ring);
	if (moving->active && !moving->found &&
	    moving->address == event.address) {
		moving->found = true;
		block->flags |= LEDGER_MOVING;
	}
}

static void ledger_allocate(struct ledger *ledger,
			    const struct ledger_event *event, bool odd)
{
	struct ledger_block *block = ledger_find(ledger, event->address);

	if (unlikely(block)) {
		block->flags |= LEDGER_ODD;
		if (!(block->flags & LEDGER_MOVING)) {
			ledger_wait(ledger, event);
			return;
		}
		ledger_release_moving(ledger, block, event->tick);
		odd = true;
	}
	ledger_thread_at(ledger, event->owner)->allocations++;
	block = ledger_new(ledger, event);
	if (!block)
		return;
	ledger_begin(ledger, block, event, odd);
	if (unlikely(ledger->waiting->count))
		ledger_allocate_settle(ledger, block, event);
}

/* Whether the block at an address began unseen, as it is not known: all that
 * happened before this was told. */
static bool ledger_began_unseen(const struct ledger *ledger,
				const struct ledger_event *event)
{
	return ledger->gap && event->tick < ledger->settled;
}

static void ledger_free(struct ledger *ledger,
			const struct ledger_event *event)
{
	struct ledger_block *block = ledger_find(ledger, event->address);
	struct ledger_event waiting;
	int i;

	if (!block || block->flags & LEDGER_MOVING) {
		if (block)
			block->flags |= LEDGER_ODD;
		if (block || !ledger_began_unseen(ledger, event))
			ledger_wait(ledger, event);
		return;
	}
	ledger_end(ledger, block, &(struct ledger_end){
					  .tick = event->tick,
					  .kind = GT_FREE,
					  .by = event->context,
					  .slot = event->slot });
	i = ledger_waits(ledger->waiting, event->address, LEDGER_ALLOCS);
	if (likely(i < 0))
		return;
	waiting = ledger_wait_end(ledger, i);
	ledger_allocate(ledger, &waiting, true);
}

/* The realloc ended; what it was about stays as it is. */
static void ledger_abandon(struct ledger *ledger,
			   struct ledger_moving *moving)
{
	struct ledger_block *block;
	int i;

	moving->active = false;
	if (moving->found && !moving->released) {
		block = ledger_find(ledger, moving->address);
		if (block)
			block->flags &= ~LEDGER_MOVING;
	}
	if (moving->found)
		return;
	i = ledger_waits(ledger->waiting, moving->address,
			 1u << GT_REALLOC_BEGIN);
	if (i >= 0)
		ledger_wait_end(ledger, i);
}

static void ledger_realloc_begin(struct ledger *ledger,
				 const struct ledger_event *event)
{
	struct ledger_moving *moving = ledger_moving_of(ledger, event->ring);
	struct ledger_block *block = ledger_find(ledger, event->address);

	if (moving->active)	/* left by siglongjmp */
		ledger_abandon(ledger, moving);
	*moving = (struct ledger_moving){
		.address = event->address,
		.by = event->context,
		.slot = event->slot,
		.active = true,
		.found = block && !(block->flags & LEDGER_MOVING),
	};
	if (moving->found)
		block->flags |= LEDGER_MOVING;
	else if (block || !ledger_began_unseen(ledger, event))
		ledger_wait(ledger, event);
}

/* The realloc freed the old block. Whether all was as it should be. */
static bool ledger_realloc_end(struct ledger *ledger,
			       const struct ledger_event *event)
{
	struct ledger_moving *moving = ledger_moving_of(ledger, event->ring);
	struct ledger_waiting *waiting = ledger->waiting;
	struct ledger_block *block;
	int i;

	if (!moving->active) {
		ledger->unpaired++;
		return false;
	}
	moving->active = false;
	if (moving->found) {
		block = moving->released ? NULL :
			ledger_find(ledger, moving->address);
		if (block)
			ledger_end(ledger, block, &(struct ledger_end){
							  .tick = event->tick,
							  .kind = event->kind,
							  .by = moving->by,
							  .begin = moving->slot,
							  .slot = event->slot });
		return block;
	}
	/* the block is not known yet: it goes on waiting, as a free */
	i = ledger_waits(waiting, moving->address, 1u << GT_REALLOC_BEGIN);
	if (i >= 0)
		ledger_waiting_at(waiting, i)->kind = GT_FREE;
	return false;
}

static void ledger_expire(struct ledger *ledger, uint64_t now)
{
	while (ledger->waiting->expires < now)
		ledger_give_up(ledger);
}

/* What threads and reallocs of this ring are kept in. */
static bool ledger_ring_reach(struct ledger *ledger, uint32_t ring)
{
	return reserve_reach(&ledger->rings,
			     (ring + UINT64_C(1)) *
				     sizeof(struct ledger_thread)) &&
	       reserve_reach(&ledger->moving,
			     (ring + UINT64_C(1)) *
				     sizeof(struct ledger_moving));
}

void ledger_event(struct ledger *ledger, const struct ledger_event *event)
{
	bool whole;

	if (unlikely(event->tick > ledger->waiting->expires))
		ledger_expire(ledger, base_min(event->tick, ledger->settled));
	if (!event->address || !ledger_ring_reach(ledger, event->ring) ||
	    !ledger_ring_reach(ledger, event->owner))
		return;
	switch (event->kind) {
	case GT_ALLOC:
		ledger_allocate(ledger, event, false);
		break;
	case GT_FREE:
		ledger_free(ledger, event);
		break;
	case GT_REALLOC_BEGIN:
		ledger_realloc_begin(ledger, event);
		break;
	case GT_REALLOC_DONE:
		whole = ledger_realloc_end(ledger, event);
		ledger_allocate(ledger, event, !whole);
		break;
	case GT_REALLOC_FREED:
		ledger_realloc_end(ledger, event);
		break;
	case GT_REALLOC_FAILED:
		if (ledger_moving_of(ledger, event->ring)->active)
			ledger_abandon(ledger, ledger_moving_of(ledger,
								event->ring));
		break;
	}
}

void ledger_thread_new(struct ledger *ledger, uint32_t ring, uint32_t serial)
{
	struct ledger_moving *moving;

	if (!ledger_ring_reach(ledger, ring))
		return;
	moving = ledger_moving_of(ledger, ring);
	if (moving->active)
		ledger_abandon(ledger, moving);
	*ledger_thread_at(ledger, ring) = (struct ledger_thread){
		.serial = serial,
	};
}

void ledger_settle(struct ledger *ledger, uint64_t tick)
{
	ledger->settled = tick;
	ledger_expire(ledger, tick);
}

void ledger_finish(struct ledger *ledger)
{
	while (ledger->waiting->count)
		ledger_give_up(ledger);
}

void ledger_forget_begin(struct ledger *ledger, uint32_t ring, uint32_t slot)
{
	struct ledger_moving *moving = ledger_moving_of(ledger, ring);

	if (moving->active && moving->slot == slot)
		moving->slot = 0;
}
