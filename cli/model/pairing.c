/*
 * pairing.c: a short list, searched from its oldest end. It is nearly always
 * empty, and holds a handful of entries at worst (see PAIRING_MAX).
 *
 * Called by the reader's thread.
 */
#include "cli/model/pairing.h"

#include <assert.h>
#include <string.h>

static void set_expiry(struct pairing *pairing)
{
	pairing->expires = pairing->count == 0 ? UINT64_MAX :
		pairing->entries[0].event.stamp + pairing->window;
}

void pairing_wait(struct pairing *pairing, const struct trace_event *event,
		  uint32_t lane, uint32_t chain)
{
	assert(pairing->count < PAIRING_MAX);
	pairing->entries[pairing->count++] =
		(struct pairing_entry){ *event, lane, chain };
	set_expiry(pairing);
}

int pairing_find(const struct pairing *pairing, uint64_t address,
		 unsigned kinds)
{
	for (size_t i = 0; i < pairing->count; i++)
		if (pairing->entries[i].event.address == address &&
		    (kinds & 1u << pairing->entries[i].event.kind))
			return (int)i;
	return -1;
}

void pairing_take(struct pairing *pairing, size_t index,
		  struct pairing_entry *entry)
{
	assert(index < pairing->count);
	*entry = pairing->entries[index];
	pairing->count--;
	memmove(&pairing->entries[index], &pairing->entries[index + 1],
		(pairing->count - index) * sizeof(*entry));
	set_expiry(pairing);
}
