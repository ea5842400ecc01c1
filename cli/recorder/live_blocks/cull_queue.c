/*
 * cull_queue.c: see cull_queue.h. The recorder only.
 */
#include "cli/recorder/live_blocks/cull_queue.h"

#include <assert.h>
#include <string.h>

#include "cli/trace/format/ring_record.h"
#include "unwind/base/assertion.h"

#define CULL_EXTRAS (ENCODE_EXTRAS - 2)

/* ---- slots and lists ---- */

bool cull_room(struct cull *cull, uint32_t n)
{
	/* freed slots count as well */
	return cull->fresh - 1 - cull->used >= n ||
	       vector_reach(&cull->slots, (cull->fresh + (uint64_t)n) *
						   sizeof(struct cull_slot));
}

uint32_t cull_take(struct cull *cull)
{
	uint32_t number = cull->unused;

	DEBUG_ASSERT(number < cull->fresh);
	if (number)
		cull->unused = cull_slot(cull, number)->next;
	else
		number = cull->fresh++;
	memset(cull_slot(cull, number), 0, sizeof(struct cull_slot));
	cull->used++;
	DEBUG_ASSERT(cull->used < cull->fresh);
	return number;
}

static void cull_give(struct cull *cull, uint32_t number)
{
	assert(number && cull->used > 0);
	DEBUG_ASSERT(number < cull->fresh);
	cull_slot(cull, number)->next = cull->unused;
	cull->unused = number;
	cull->used--;
}

static struct cull_ring *cull_ring(struct cull *cull, uint32_t ring)
{
	return cull->rings + ring;
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Its neighbours link to it and are in order. */
static bool cull_slot_is_valid(const struct cull *cull, uint32_t number)
{
	const struct cull_slot *s = cull_slot(cull, number);
	const struct cull_slot *next = cull_slot(cull, s->next);
	const struct cull_ring *own = &cull->rings[s->ring];

	return number < cull->fresh && s->state <= CULL_HOLE &&
	       (s->next ? next->previous == number && next->serial > s->serial :
			  cull->last == number) &&
	       (s->previous ? cull_slot(cull, s->previous)->next == number :
			      cull->first == number) &&
	       (s->ring_next ? cull_slot(cull, s->ring_next)->ring == s->ring :
			       own->last == number) &&
	       (s->ring_previous || own->first == number);
}

bool cull_is_valid(const struct cull *cull)
{
	uint32_t number, count = 0, more = 0, unused = 0;

	for (number = cull->first; number && count < cull->fresh; count++) {
		if (!cull_slot_is_valid(cull, number))
			return false;
		more += cull_slot(cull, number)->more != 0;
		number = cull_slot(cull, number)->next;
	}
	for (number = cull->unused; number && unused < cull->fresh; unused++)
		number = cull_slot(cull, number)->next;
	return count + more == cull->used &&
	       cull->used + unused + 1 == cull->fresh;
}
#endif

uint32_t cull_append(struct cull *cull, uint32_t ring)
{
	struct cull_ring *own = cull_ring(cull, ring);
	struct cull_slot *slot;
	uint32_t number;

	number = cull_take(cull);
	slot = cull_slot(cull, number);
	slot->serial = ++cull->serial;
	slot->ring = ring;
	slot->previous = cull->last;
	slot->ring_previous = own->last;
	if (cull->last)
		cull_slot(cull, cull->last)->next = number;
	else
		cull->first = number;
	if (own->last)
		cull_slot(cull, own->last)->ring_next = number;
	else
		own->first = number;
	cull->last = own->last = number;
	DEBUG_ASSERT(cull_slot_is_valid(cull, number));
	return number;
}

void cull_stamp(struct cull *cull, uint32_t number, uint64_t tick)
{
	struct cull_slot *slot = cull_slot(cull, number);

	slot->tick = tick;
	if (likely(tick >= cull->newest)) {
		cull->newest = tick;
		return;
	}
	if (!cull->first ||
	    cull_slot(cull, cull->first)->serial > cull->odd_serial)
		cull->odd_tick = UINT64_MAX;
	cull->odd_tick = base_min(cull->odd_tick, tick);
	cull->odd_serial = slot->serial;
}

static void cull_unlink(struct cull *cull, uint32_t number)
{
	struct cull_slot *slot = cull_slot(cull, number);
	struct cull_ring *own = cull_ring(cull, slot->ring);

	DEBUG_ASSERT(cull_slot_is_valid(cull, number));
	if (slot->previous)
		cull_slot(cull, slot->previous)->next = slot->next;
	else
		cull->first = slot->next;
	if (slot->next)
		cull_slot(cull, slot->next)->previous = slot->previous;
	else
		cull->last = slot->previous;
	if (slot->ring_previous)
		cull_slot(cull, slot->ring_previous)->ring_next =
			slot->ring_next;
	else
		own->first = slot->ring_next;
	if (slot->ring_next)
		cull_slot(cull, slot->ring_next)->ring_previous =
			slot->ring_previous;
	else
		own->last = slot->ring_previous;
	if (slot->more)
		cull_give(cull, slot->more);
	slot->state = CULL_STAYS;
	cull_give(cull, number);
}

void cull_join(struct cull *cull, uint32_t first, uint32_t second)
{
	struct cull_slot *a = cull_slot(cull, first);
	struct cull_slot *b = cull_slot(cull, second);

	if (!first || !second || a->state != CULL_HOLE ||
	    b->state != CULL_HOLE ||
	    recording_is_nested(cull->drain->r, a->ring))
		return;
	DEBUG_ASSERT(a->ring == b->ring && a->ring_next == second);
	a->word[3] += b->word[3];
	a->end = b->end;
	cull_unlink(cull, second);
}

void cull_remove(struct cull *cull, uint32_t number)
{
	const struct cull_slot *slot = cull_slot(cull, number);
	uint32_t previous = slot->ring_previous, next = slot->ring_next;

	cull_unlink(cull, number);
	cull_join(cull, previous, next);
}

uint64_t cull_older(const struct cull *cull, uint64_t tick)
{
	uint32_t number = cull->first;
	uint64_t serial = 0;

	while (number && cull_slot(cull, number)->tick < tick) {
		serial = cull_slot(cull, number)->serial;
		number = cull_slot(cull, number)->next;
	}
	return serial;
}

uint64_t cull_nth(const struct cull *cull, uint32_t n)
{
	uint32_t number = cull->first;
	uint64_t serial = 0;

	for (; number && n; n--) {
		serial = cull_slot(cull, number)->serial;
		number = cull_slot(cull, number)->next;
	}
	return serial;
}

/* ---- time ---- */

void cull_measure(struct cull *cull)
{
	uint64_t tick_ps = cull->table->tick_ps;

	cull->age = cull->age_ns / tick_ps * 1000 +
		    cull->age_ns % tick_ps * 1000 / tick_ps;
}

uint64_t cull_ns(const struct cull *cull, uint64_t ticks)
{
	uint64_t tick_ps = cull->table->tick_ps;

	return ticks / 1000 * tick_ps + ticks % 1000 * tick_ps / 1000;
}

/* ---- writing ---- */

/* Decides a block of which an event leaves the queue (I2): it stays. */
static void cull_settle(struct cull *cull, uint32_t i)
{
	struct cull_undecided *entry = cull_undecided(cull, i), *last;

	assert(i < cull->undecided_count);
	DEBUG_ASSERT(cull_slot(cull, entry->begin)->state == CULL_UNDECIDED);
	DEBUG_ASSERT(cull_slot(cull, entry->end)->undecided == i + 1);
	cull_slot(cull, entry->begin)->state = CULL_STAYS;
	cull_slot(cull, entry->end)->undecided = 0;
	if (entry->moves)
		cull_slot(cull, entry->moves)->undecided = 0;
	cull_chains_settle(cull, &entry->link);
	last = cull_undecided(cull, --cull->undecided_count);
	if (last == entry)
		return;
	*entry = *last;
	cull_slot(cull, entry->begin)->block = i;
	cull_slot(cull, entry->end)->undecided = i + 1;
	if (entry->moves)
		cull_slot(cull, entry->moves)->undecided = i + 1;
}

/* The slot is about to be written: removes all references to it. */
static void cull_forget(struct cull *cull, uint32_t number)
{
	struct cull_slot *slot = cull_slot(cull, number);

	if (slot->state == CULL_LIVE)
		block_table_set_slot(cull->table, slot->block, 0);
	if (slot->state == CULL_UNDECIDED)
		cull_settle(cull, slot->block);
	if (slot->undecided)
		cull_settle(cull, slot->undecided - 1);
	if (slot->state == CULL_CHAIN_ENDS)
		cull_chains_written(cull, slot->block);
	if ((slot->word[0] & 7) == GT_REALLOC_BEGIN)
		block_table_forget_begin(cull->table, slot->ring, number);
}

static void cull_put_words(order_word *to, const uint64_t *from, unsigned n)
{
	while (n--)
		order_word_put(to++, *from++);
}

static order_word *cull_put_left(order_word *to, const struct cull_slot *slot,
				 uint64_t count)
{
	const uint64_t word[GL_RECORD_MAX / 8] = {
		[0] = (slot->word[0] & ~(uint64_t)15) | GT_EXTRA,
		[2] = (uint64_t)GT_EXTRA_LEFT_OUT << 32,
		[3] = count,
	};

	cull_put_words(to, word, GL_RECORD_MAX / 8);
	return to + GL_RECORD_MAX / 8;
}

/* Writes the note on its block's chain, which precedes its record. */
static order_word *cull_put_note(const struct cull *cull,
				 const struct cull_slot *slot, order_word *to)
{
	const struct cull_slot *more = cull_slot(cull, slot->more);
	const uint64_t word[4] = {
		(slot->word[0] & ~(uint64_t)15) | GT_EXTRA,
		gl_block(slot->word[1]), more->tick, more->end
	};

	cull_put_words(to, word, 4);
	cull_put_words(to + 4, more->word, 4);
	return to + GL_RECORD_MAX / 8;
}

/* Writes the slot's record at `to`. Returns one past it. */
static order_word *cull_record(const struct cull *cull,
			       const struct cull_slot *slot, order_word *to)
{
	unsigned words = gl_record_words(slot->word[0], slot->word[2]);

	if (slot->state == CULL_HOLE)
		return cull_put_left(to, slot, slot->word[3]);
	if (slot->more && gl_kind(slot->word[0]) != GT_EXTRA)
		to = cull_put_note(cull, slot, to);
	cull_put_words(to, slot->word, base_min(words, 4));
	if (gl_kind(slot->word[0]) == GT_EXTRA)
		cull_put_words(to + 4, cull_slot(cull, slot->more)->word, 4);
	to += words;
	return slot->left ? cull_put_left(to, slot, 1) : to;
}

/* Writes one chunk of a ring's first slots, up to the serial number. */
static void cull_chunk(struct cull *cull, uint32_t ring, uint64_t serial)
{
	struct cull_ring *own = cull_ring(cull, ring);
	order_word *records = cull->records, *to = records;
	uint64_t first = own->written;
	uint32_t extras = 0, events;

	for (events = 0; own->first && events < CULL_EVENTS - 2 &&
			 extras < CULL_EXTRAS; events++) {
		uint32_t number = own->first;
		struct cull_slot *slot = cull_slot(cull, number);

		DEBUG_ASSERT(slot->ring == ring);
		if (slot->serial > serial)
			break;
		extras += slot->state == CULL_HOLE || slot->left;
		extras += slot->state != CULL_HOLE && slot->more;
		events += slot->left;
		events += slot->more != 0;
		cull_forget(cull, number);
		DEBUG_ASSERT((size_t)(to - records) * 8 + 3 * GL_RECORD_MAX <=
			     CULL_RECORDS);
		to = cull_record(cull, slot, to);
		DEBUG_ASSERT(slot->end > own->written);
		own->written = slot->end;
		cull_unlink(cull, number);
	}
	if (to != records)
		drain_records(cull->drain, ring, records, to, first,
			      own->written);
}

static void cull_write_ring(struct cull *cull, uint32_t ring, uint64_t serial)
{
	struct cull_ring *own = cull_ring(cull, ring);

	while (own->first && cull_slot(cull, own->first)->serial <= serial &&
	       !cull->drain->out->err)
		cull_chunk(cull, ring, serial);
}

void cull_write(struct cull *cull, uint64_t serial)
{
	while (cull->first && !cull->drain->out->err &&
	       cull_slot(cull, cull->first)->serial <= serial)
		cull_write_ring(cull, cull_slot(cull, cull->first)->ring,
				serial);
}

void cull_write_holes(struct cull *cull)
{
	uint32_t count = drain_count(cull->drain), ring;

	for (ring = 0; ring < count; ring++) {
		uint32_t first = cull_ring(cull, ring)->first;

		if (first && cull_slot(cull, first)->state == CULL_HOLE)
			cull_write_ring(cull, ring,
					cull_slot(cull, first)->serial);
	}
}

void cull_flush_ring(struct cull *cull, uint32_t ring)
{
	struct cull_ring *own = cull_ring(cull, ring);

	cull_write_ring(cull, ring, UINT64_MAX);
	own->written = 0;
	DEBUG_ASSERT(cull_is_valid(cull));
}
