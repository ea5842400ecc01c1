/*
 * pairing.c: a short list, searched from its oldest end. It is nearly always
 * empty, and holds a handful of entries at worst (see PAIRING_MAX). It moves
 * towards the end of its array as the oldest are taken, several at a time
 * where a window ends; an entry that would lie beyond the end brings all of
 * them back to the beginning.
 *
 *  I1  first + count <= PAIRING_ROOM, and count <= PAIRING_MAX.
 *
 * Called by the reader's thread.
 */
#include "cli/model/pairing.h"

#include <assert.h>
#include <string.h>

static uint16_t *present(struct pairing *pairing, uint64_t address)
{
	return &pairing->present[(address >> 4 ^ address >> 14) %
				 PAIRING_MAX];
}

static void set_expiry(struct pairing *pairing)
{
	const struct trace_event *oldest =
		&pairing->entries[pairing->first].event;
	uint64_t end = oldest->stamp + pairing->window;

	if (pairing->count == 0 || end < oldest->stamp)
		end = UINT64_MAX;
	pairing->expires = end;
}

void pairing_wait(struct pairing *pairing, const struct trace_event *event,
		  uint32_t lane, uint32_t chain)
{
	assert(pairing->count < PAIRING_MAX);
	assert(pairing->first + pairing->count <= PAIRING_ROOM);	/* I1 */
	if (pairing->first + pairing->count == PAIRING_ROOM) {
		memmove(pairing->entries, pairing->entries + pairing->first,
			pairing->count * sizeof(pairing->entries[0]));
		pairing->first = 0;
	}
	pairing->entries[pairing->first + pairing->count++] =
		(struct pairing_entry){ *event, lane, chain };
	++*present(pairing, event->address);
	set_expiry(pairing);
}

int pairing_find(struct pairing *pairing, uint64_t address, unsigned kinds)
{
	const struct pairing_entry *entries = pairing->entries +
		pairing->first;

	if (*present(pairing, address) == 0)
		return -1;
	for (size_t i = 0; i < pairing->count; i++)
		if (entries[i].event.address == address &&
		    (kinds & 1u << entries[i].event.kind))
			return (int)i;
	return -1;
}

void pairing_take(struct pairing *pairing, size_t index,
		  struct pairing_entry *entry)
{
	struct pairing_entry *at = pairing->entries + pairing->first + index;

	assert(index < pairing->count);
	*entry = *at;
	--*present(pairing, entry->event.address);
	pairing->count--;
	if (index == 0)
		pairing->first++;
	else
		memmove(at, at + 1,
			(pairing->count - index) * sizeof(*entry));
	if (pairing->count == 0)
		pairing->first = 0;
	set_expiry(pairing);
}

void pairing_clear(struct pairing *pairing)
{
	memset(pairing->present, 0, sizeof(pairing->present));
	pairing->first = pairing->count = 0;
	set_expiry(pairing);
}
