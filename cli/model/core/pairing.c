/*
 * pairing.c: a list by age, and a hash table by address and kind, over the same
 * slots. It is nearly always empty, and normally holds a handful of entries at
 * most. But a hostile trace can keep PAIRING_MAX entries here for ever, all
 * with one address, so no operation may walk or move all of them.
 *
 *  I1  Slot 0 means none. Of slots 1 to `used`, `count` are in both lists, and
 *      the others in the list of `unused`.
 *  I2  The entries of a bucket are by age. So the first match is the oldest,
 *      and entries of the same address and kind do not slow its search.
 *  I3  `before` of a bucket's first entry is its last one.
 *
 * Called by the reader's thread, or the recorder.
 */
#include "cli/model/core/pairing.h"

#include <assert.h>
#include <string.h>

#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

static uint16_t *bucket_of(struct pairing *pairing, uint64_t address,
			   unsigned kind)
{
	return &pairing->buckets[(hash_number(address) + kind) %
				 PAIRING_BUCKETS];
}

#ifdef GNOMON_DEBUG_ASSERTS
#define VALID_EVERY 256	/* changes per check; more often would dominate the run
			 * time */

/* The slot is in its bucket, by age (I2), with valid links (I3). */
static bool slot_is_valid(const struct pairing *pairing, uint16_t index)
{
	const struct pairing_slot *slots = pairing->slots, *s = &slots[index];
	uint16_t first = *bucket_of((struct pairing *)pairing,
				    s->entry.event.address,
				    s->entry.event.kind);

	return index <= pairing->used && first != PAIRING_NONE &&
	       (s->newer == PAIRING_NONE ? index == pairing->newest :
		slots[s->newer].older == index &&
		slots[s->newer].number > s->number) &&
	       (s->after == PAIRING_NONE ? slots[first].before == index :
		slots[s->after].before == index &&
		slots[s->after].number > s->number) &&
	       (index == first || slots[s->before].after == index);
}

bool pairing_is_valid(const struct pairing *pairing)
{
	size_t count = 0, unused = 0;
	uint16_t i;

	for (i = pairing->oldest; i != PAIRING_NONE && count <= PAIRING_MAX;
	     i = pairing->slots[i].newer, count++)
		if (!slot_is_valid(pairing, i))
			return false;
	for (i = pairing->unused; i != PAIRING_NONE && unused <= PAIRING_MAX;
	     i = pairing->slots[i].newer)
		unused++;
	return count == pairing->count && pairing->used <= PAIRING_MAX &&
	       unused == pairing->used - count;	/* I1 */
}
#endif

static void set_expiry(struct pairing *pairing)
{
	const struct trace_event *oldest =
		&pairing->slots[pairing->oldest].entry.event;
	uint64_t end = oldest->stamp + pairing->window;

	DEBUG_ASSERT(pairing->count == 0 || pairing->oldest != PAIRING_NONE);
	if (pairing->count == 0 || end < oldest->stamp)
		end = UINT64_MAX;
	pairing->expires = end;
}

static uint16_t new_slot(struct pairing *pairing)
{
	uint16_t index = pairing->unused;

	assert(pairing->count < PAIRING_MAX);
	pairing->count++;
	DEBUG_ASSERT(index != PAIRING_NONE || pairing->used < PAIRING_MAX);
	if (index == PAIRING_NONE)
		return ++pairing->used;
	pairing->unused = pairing->slots[index].newer;
	DEBUG_ASSERT(index <= pairing->used);	/* I1 */
	return index;
}

/* Links the slot as the newest of all, and of its bucket. */
static void link_slot(struct pairing *pairing, uint16_t index)
{
	struct pairing_slot *slots = pairing->slots, *slot = &slots[index];
	uint16_t *bucket = bucket_of(pairing, slot->entry.event.address,
				     slot->entry.event.kind);

	DEBUG_ASSERT(index != PAIRING_NONE && index <= pairing->used);
	slot->older = pairing->newest;
	slot->newer = PAIRING_NONE;
	if (slot->older != PAIRING_NONE)
		slots[slot->older].newer = index;
	else
		pairing->oldest = index;
	pairing->newest = index;
	slot->after = PAIRING_NONE;
	if (*bucket == PAIRING_NONE) {
		slot->before = index;
		*bucket = index;
		return;
	}
	slot->before = slots[*bucket].before;
	slots[slot->before].after = index;
	slots[*bucket].before = index; /* I3 */
}

static void unlink_slot(struct pairing *pairing, uint16_t index)
{
	struct pairing_slot *slots = pairing->slots, *slot = &slots[index];
	uint16_t *bucket = bucket_of(pairing, slot->entry.event.address,
				     slot->entry.event.kind);

	DEBUG_ASSERT(pairing->count > 0);
	if (slot->older != PAIRING_NONE)
		slots[slot->older].newer = slot->newer;
	else
		pairing->oldest = slot->newer;
	if (slot->newer != PAIRING_NONE)
		slots[slot->newer].older = slot->older;
	else
		pairing->newest = slot->older;
	if (slot->after != PAIRING_NONE)
		slots[slot->after].before = slot->before;
	else
		slots[*bucket].before = slot->before; /* I3 */
	if (*bucket == index)
		*bucket = slot->after;
	else
		slots[slot->before].after = slot->after;
}

void pairing_wait(struct pairing *pairing, const struct pairing_entry *entry)
{
	uint16_t index = new_slot(pairing);

	pairing->slots[index].entry = *entry;
	pairing->slots[index].number = ++pairing->number;
	link_slot(pairing, index);
	set_expiry(pairing);
	DEBUG_ASSERT(slot_is_valid(pairing, index));
	DEBUG_ASSERT(pairing->number % VALID_EVERY ||
		     pairing_is_valid(pairing));
}

/* The oldest entry of one kind. */
static uint16_t find_kind(struct pairing *pairing, uint64_t address,
			  unsigned kind)
{
	uint16_t index = *bucket_of(pairing, address, kind);

	while (index != PAIRING_NONE &&
	       (pairing->slots[index].entry.event.address != address ||
		pairing->slots[index].entry.event.kind != kind))
		index = pairing->slots[index].after;
	return index;
}

unsigned pairing_find(struct pairing *pairing, uint64_t address, unsigned kinds)
{
	unsigned best = PAIRING_NONE;

	for (; kinds != 0; kinds &= kinds - 1) {
		unsigned found = find_kind(pairing, address,
					   (unsigned)__builtin_ctz(kinds));

		if (found != PAIRING_NONE &&
		    (best == PAIRING_NONE ||
		     pairing->slots[found].number <
			     pairing->slots[best].number))
			best = found;
	}
	DEBUG_ASSERT(best == PAIRING_NONE || best <= pairing->used);
	return best;
}

void pairing_take(struct pairing *pairing, unsigned index,
		  struct pairing_entry *entry)
{
	assert(index != PAIRING_NONE && index <= pairing->used);
	DEBUG_ASSERT(slot_is_valid(pairing, (uint16_t)index));
	unlink_slot(pairing, (uint16_t)index);
	*entry = pairing->slots[index].entry;
	pairing->slots[index].newer = pairing->unused;
	pairing->unused = (uint16_t)index;
	pairing->count--;
	set_expiry(pairing);
}

void pairing_clear(struct pairing *pairing)
{
	memset(pairing->buckets, 0, sizeof(pairing->buckets));
	pairing->oldest = pairing->newest = PAIRING_NONE;
	pairing->unused = PAIRING_NONE;
	pairing->used = 0;
	pairing->count = 0;
	set_expiry(pairing);
}
