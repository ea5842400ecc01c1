/*
 * cull.c: see cull.h. The result is the same as that of `gnomon strip`.
 *
 * Events wait in a queue, in the order of time, until they are old enough or
 * too many wait. If a block ends while its allocation waits, both events leave
 * the queue. A hole stays in their place, which counts the allocations of that
 * thread that were here.
 *
 *	oldest                                            newest
 *	[alloc A] [hole 7] [free Z] [alloc B] [hole 1] [alloc C]
 *	   │ TIME old, or more than N wait                  ▲ events of rings
 *	   ▼ EVENTS
 *
 * The peak must stay the same, so blocks that are live at the peak are kept,
 * however short their lifetime. When a block ends, a higher peak may still
 * come. So a block that was live at the highest peak so far is undecided. It
 * is left out when a higher peak comes.
 *
 * I1: a slot is in the list of all slots and in the list of its ring, both
 * ordered by serial.
 * I2: all slots of an undecided block are in the queue.
 * I3: in a ring that is not nested, no hole follows a hole. So a hole is
 *     written with the stamp of its first allocation, and before any free that
 *     came after one of its allocations.
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/cull.h"

#include <assert.h>
#include <errno.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/live_blocks/cull_queue.h"
#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "unwind/base/assertion.h"

/* Interval at which totals are written; it grows with their number. */
#define CULL_REPORT_NS (1 * UINT64_C(1000000000))
#define CULL_REPORT_EACH_NS (1 * UINT64_C(1000000))
#define CULL_MIN 4		/* slots: room for one event when all others are
				 * written */
#define CULL_EVICT 8		/* this fraction of the queue at a time */

/* ---- leaving out ---- */

/* Turns the slot into a hole and merges it with adjacent holes (I3). */
static void cull_hole(struct cull *cull, uint32_t number)
{
	struct cull_slot *slot = cull_slot(cull, number);
	uint32_t previous = slot->ring_previous;

	DEBUG_ASSERT(slot->state == CULL_STAYS);
	slot->state = CULL_HOLE;
	slot->word[0] = (slot->word[0] & ~(uint64_t)15) | GT_EXTRA;
	slot->word[3] = 1;
	slot->left = false;
	slot->undecided = 0;
	cull_join(cull, previous, number);
	/* if it was merged, the previous slot has its place */
	if (slot->state != CULL_HOLE)
		number = previous;
	cull_join(cull, number, cull_slot(cull, number)->ring_next);
}

static void cull_set_kind(struct cull_slot *slot, unsigned kind)
{
	slot->word[0] = (slot->word[0] & ~(uint64_t)15) | kind;
}

static unsigned cull_kind(const struct cull_slot *slot)
{
	return slot->word[0] & 7;
}

/* Removes the allocation of a block that is left out. */
static void cull_leave_out(struct cull *cull, uint32_t number)
{
	struct cull_slot *slot = cull_slot(cull, number);

	if (cull_kind(slot) != GT_REALLOC_DONE) {
		cull_hole(cull, number);
		return;
	}
	/* the block that realloc freed stays, and ends here */
	slot->state = CULL_STAYS;
	slot->left = true;
	cull_set_kind(slot, GT_REALLOC_FREED);
}

/* Removes the event that ended it. moves: slot of its REALLOC_BEGIN, or 0.
 * `told`: the slot has become the record of a chain's end. */
static void cull_leave_out_end(struct cull *cull, uint32_t moves,
			       uint32_t number, bool reported)
{
	struct cull_slot *slot = cull_slot(cull, number);

	slot->undecided = 0;
	if (moves)
		cull_remove(cull, moves);
	if (reported)
		return;
	if (cull_kind(slot) == GT_REALLOC_DONE)
		cull_set_kind(slot, GT_ALLOC);
	else if (slot->left)
		cull_hole(cull, number);
	else
		cull_remove(cull, number);
}

/* Leaves a block out if there is memory for its totals. `waited`: it was
 * undecided. */
static void cull_decide_out(struct cull *cull,
			    const struct cull_undecided *entry, bool waited)
{
	bool reported;

	if (!cull_chains_may_go(cull, entry) ||
	    !cull_totals_add(&cull->totals, &entry->block,
			     cull_ns(cull, entry->block.lifetime))) {
		if (waited)
			cull_chains_settle(cull, &entry->link);
		else
			cull_chains_stay(cull, &entry->link);
		return;
	}
	reported = cull_chains_go(cull, entry, waited);
	cull_leave_out(cull, entry->begin);
	cull_leave_out_end(cull, entry->moves, entry->end, reported);
}

/* ---- from the block table ---- */

static void cull_begun(void *owner, const struct block *block, uint32_t number,
		       uint32_t chain)
{
	struct cull *cull = owner;
	uint32_t at = block_table_slot(cull->table, number);

	if (unlikely(chain))
		cull_chains_enter(cull, chain, number, block);
	/* an event that waited for others has no slot: the slot may be
	 * reused */
	assert(!at || !block->odd);
	if (!at)
		return;
	DEBUG_ASSERT(cull_slot(cull, at)->state == CULL_STAYS);
	cull_slot(cull, at)->state = CULL_LIVE;
	cull_slot(cull, at)->block = number;
}

static void cull_peak(void *owner)
{
	struct cull *cull = owner;
	uint32_t i;

	cull->peak_serial = cull->serial;
	for (i = 0; i < cull->undecided_count; i++) {
		const struct cull_undecided *entry = cull_undecided(cull, i);

		DEBUG_ASSERT(cull_slot(cull, entry->begin)->state ==
			     CULL_UNDECIDED);
		cull_slot(cull, entry->begin)->state = CULL_STAYS;
		cull_slot(cull, entry->end)->undecided = 0;
		if (entry->moves)
			cull_slot(cull, entry->moves)->undecided = 0;
	}
	for (i = 0; i < cull->undecided_count; i++)
		cull_decide_out(cull, cull_undecided(cull, i), true);
	cull->undecided_count = 0;
}

/* Marks a block as undecided: it stays if no higher peak comes. */
static void cull_defer(struct cull *cull, const struct cull_undecided *entry)
{
	uint32_t i = cull->undecided_count;

	DEBUG_ASSERT(entry->begin && entry->end);
	if (!vector_reach(&cull->undecided,
			  (i + UINT64_C(1)) * sizeof(*entry))) {
		cull_chains_stay(cull, &entry->link);
		return;
	}
	cull_chains_defer(cull, &entry->link);
	cull->undecided_count++;
	*cull_undecided(cull, i) = *entry;
	cull_slot(cull, entry->begin)->state = CULL_UNDECIDED;
	cull_slot(cull, entry->begin)->block = i;
	cull_slot(cull, entry->end)->undecided = i + 1;
	if (entry->moves)
		cull_slot(cull, entry->moves)->undecided = i + 1;
}

/* Data of the block for the totals. */
static struct cull_block cull_block_of(const struct block_table *table,
				       const struct block *block,
				       const struct block_table_end *end)
{
	const struct block_table_thread *thread =
		block_table_thread_of(table, block);

	return (struct cull_block){
		.size = block->size, .tick = block->alloc,
		.lifetime = end->tick - block->alloc,
		.amount = weight_block(block->size, table->mean),
		.context = block_table_context_of(table, block),
		.by = end->by, .thread = thread->serial,
		.ring = thread->ring, .temporary = end->temporary,
	};
}

/* Updates its realloc chain. False: no memory, so the block must stay. */
static bool cull_follow(struct cull *cull, const struct block *block,
			uint32_t number, const struct block_table_end *end,
			struct cull_link *link)
{
	if (block_table_is_apart(cull->table, block))
		return true;	/* readers do not count its chain either */
	if (end->moved)
		return cull_chains_move(
			cull, block, number,
			block_table_context_of(cull->table, block), end->slot,
			link);
	cull_chains_end(cull, number, end->tick, link);
	return true;
}

/* Whether all its events are known, and its lifetime was short. */
static bool cull_may_go(const struct cull *cull, const struct block *block,
			const struct block_table_end *end)
{
	return !block->odd && !end->lost && end->slot &&
	       (!end->realloc || end->begin) &&
	       end->tick - block->alloc < cull->age;
}

static uint32_t cull_ended(void *owner, const struct block *block,
			   uint32_t number, const struct block_table_end *end)
{
	struct cull *cull = owner;
	struct cull_undecided entry = {
		.begin = block_table_slot(cull->table, number),
		.moves = end->begin, .end = end->slot,
	};
	bool goes = cull_follow(cull, block, number, end, &entry.link) &&
		    entry.begin && cull_may_go(cull, block, end);

	if (entry.begin) {
		DEBUG_ASSERT(cull_slot(cull, entry.begin)->state == CULL_LIVE &&
			     cull_slot(cull, entry.begin)->block == number);
		cull_slot(cull, entry.begin)->state = CULL_STAYS;
		block_table_set_slot(cull->table, number, 0);
	}
	if (!goes) {
		cull_chains_stay(cull, &entry.link);
		return end->moved ? entry.link.chain : 0;
	}
	entry.block = cull_block_of(cull->table, block, end);
	if (cull_slot(cull, entry.begin)->serial > cull->peak_serial)
		cull_decide_out(cull, &entry, false);
	else
		cull_defer(cull, &entry);
	return end->moved ? entry.link.chain : 0;
}

static void cull_chain_lost(void *owner, uint32_t chain, uint64_t tick)
{
	cull_chains_lost(owner, chain, tick);
}

/* ---- the line ---- */

int cull_init(struct cull *cull, struct ring_drain *drain,
	      struct block_table *table, uint64_t bytes)
{
	cull->drain = drain;
	cull->table = table;
	cull->fresh = 1;
	cull->odd_tick = UINT64_MAX;
	cull->reported_ns = drain->sync_ns;
	cull->slots.max = (cull->max + UINT64_C(2)) *
			   sizeof(struct cull_slot);
	cull_chains_init(&cull->chains, bytes);
	cull->undecided.max = cull->max * sizeof(struct cull_undecided);
	cull->rings = zeroed_alloc(GL_RINGS_MAX * sizeof(*cull->rings));
	cull->records = zeroed_alloc(CULL_RECORDS);
	if (!cull->rings || !cull->records ||
	    !vector_reach(&cull->slots,
			  CULL_MIN * sizeof(struct cull_slot)) ||
	    cull_totals_init(&cull->totals, bytes, drain->out, drain->compress,
			     drain->nodes, drain->encode->stacks, table->mean))
		return -ENOMEM;
	table->observer = (struct block_table_observer){
		.owner = cull, .begun = cull_begun, .peak = cull_peak,
		.ended = cull_ended, .chain_lost = cull_chain_lost,
	};
	cull_measure(cull);
	return 0;
}

uint32_t cull_put(struct cull *cull, uint32_t ring, uint64_t end,
		  uint64_t tick, const uint64_t *word)
{
	bool extra = (word[0] & 7) == GT_EXTRA;
	uint32_t number, more = 0;

	if (unlikely(cull->used + 2 > cull->max))
		cull_write(cull, cull_nth(cull, cull->max / CULL_EVICT));
	/* the initial memory is enough for at least this event */
	if (unlikely(!cull_room(cull, 2)))
		cull_flush(cull);
	/* the trace cannot be written any more: the event gets no slot */
	if (unlikely(!cull_room(cull, 2)))
		return 0;
	if (extra) {
		more = cull_take(cull);
		cull_copy(cull_slot(cull, more), word + 4);
	}
	number = cull_append(cull, ring);
	cull_copy(cull_slot(cull, number), word);
	cull_slot(cull, number)->more = more;
	cull_slot(cull, number)->end = end;
	cull_stamp(cull, number, tick);
	return number;
}

void cull_poll(struct cull *cull, uint64_t now_ns)
{
	uint64_t now = counter_now() >> cull->drain->tick_shift;

	cull_measure(cull);
	if (cull->first && now > cull->age)
		cull_write(cull, cull_older(cull, now - cull->age));
	if (now_ns - cull->reported_ns <
	    base_max(CULL_REPORT_NS,
		     cull->totals.blocks.count * CULL_REPORT_EACH_NS))
		return;
	cull->reported_ns = now_ns;
	if (!cull->totals.news)
		return;
	cull_write_holes(cull);
	cull_report(cull);
}

void cull_flush(struct cull *cull)
{
	cull_write(cull, UINT64_MAX);
}

uint64_t cull_oldest(const struct cull *cull)
{
	const struct cull_slot *first = cull_slot(cull, cull->first);

	if (!cull->first)
		return UINT64_MAX;
	return first->serial <= cull->odd_serial ?
		       base_min(cull->odd_tick, first->tick) : first->tick;
}

/* Number of a thread's START. */
static uint32_t cull_number(void *owner, uint32_t ring, uint32_t serial)
{
	return drain_thread_number(owner, ring, serial);
}

void cull_report(struct cull *cull)
{
	const struct block_table_sum all =
		block_table_rounded(cull->table, &cull->table->all);
	uint64_t run[GT_RUN_VALUES] = {
		[GT_RUN_PEAK_BYTES] = all.peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = all.peak_blocks,
		[GT_RUN_PEAK_STAMP] = all.peak_tick,
		[GT_RUN_PEAK_KEPT] = !cull->table->refused,
		[GT_RUN_LIFETIME_NS] = cull->age_ns,
	};

	cull_totals_report(&cull->totals, cull->table, cull_number,
			   cull->drain);
	emit_totals_run(cull->drain->out, run);
}
