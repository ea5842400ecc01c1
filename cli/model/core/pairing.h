/*
 * pairing.h: events that wait for their counterpart.
 *
 * Stamps of two cores may disagree within a window. So an allocation may come
 * before the free that made its address available, and a free before its
 * allocation. Such an event waits here until the other one comes, or until the
 * window is over.
 */
#ifndef GNOMON_PAIRING_H
#define GNOMON_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/event.h"

struct pairing_entry {
	struct trace_event event;
	uint32_t lane;
	uint32_t chain;		/* the chain that the block continues; 0:
				 * none */
	bool known;		/* a free: there was a block at its address */
};

/* More are not expected within some microseconds. A file with more is damaged
 * or hostile; then the oldest entry is given up. */
#define PAIRING_MAX 1024
#define PAIRING_BUCKETS (4 * PAIRING_MAX)
#define PAIRING_NONE 0u

struct pairing_slot {
	struct pairing_entry entry;
	uint64_t number;		/* older entries have lower numbers */
	uint16_t older, newer;		/* of all entries; newer: also of free
					 * slots */
	uint16_t before, after;		/* in its bucket, by age */
};

/* All zero: nothing waits. */
struct pairing {
	struct pairing_slot slots[PAIRING_MAX + 1];
	uint16_t buckets[PAIRING_BUCKETS];	/* oldest entry of each
						 * bucket */
	uint16_t oldest, newest;
	uint16_t unused, used;
	size_t count;
	uint64_t number;	/* the last number given */
	uint64_t expires;	/* stamp at which the oldest entry expires */
	uint64_t window;
};

/* The caller makes room first: count < PAIRING_MAX. */
void pairing_wait(struct pairing *pairing, const struct pairing_entry *entry);
/* The slot of the oldest entry of these kinds (a bit set, 1 << gt_event) at
 * this address, or PAIRING_NONE. */
unsigned pairing_find(struct pairing *pairing, uint64_t address, unsigned kinds);
/* Removes all entries. */
void pairing_clear(struct pairing *pairing);
/* `index`: from pairing_find, or `oldest`. */
void pairing_take(struct pairing *pairing, unsigned index,
		  struct pairing_entry *entry);

/* I1 to I3 of pairing.c. With GNOMON_DEBUG_ASSERTS (unwind/base/assertion.h). */
bool pairing_is_valid(const struct pairing *pairing);

#endif
