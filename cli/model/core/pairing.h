/*
 * pairing.h: events that have to wait for their counterpart.
 *
 * Stamps of two cores may disagree within a window. So an allocation may come
 * before the free that made its address available, and a free before its
 * allocation. Such an event waits here until the other one comes, or until
 * the window is over.
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
	uint32_t chain;		/* that it goes on with; 0: none */
	bool known;		/* a free: there was a block at its address */
};

/* More are not expected within some microseconds; a file that has more is
 * damaged or hostile, and the oldest gives up its place. */
#define PAIRING_MAX 1024
#define PAIRING_BUCKETS (4 * PAIRING_MAX)
#define PAIRING_NONE 0u

struct pairing_slot {
	struct pairing_entry entry;
	uint64_t number;		/* the older, the lower */
	uint16_t older, newer;		/* of all; newer: also of unused */
	uint16_t before, after;		/* in its bucket, which is by age */
};

/* All zero: nothing waits. */
struct pairing {
	struct pairing_slot slots[PAIRING_MAX + 1];
	uint16_t buckets[PAIRING_BUCKETS];	/* their oldest */
	uint16_t oldest, newest;
	uint16_t unused, used;
	size_t count;
	uint64_t number;	/* the last that was given */
	uint64_t expires;	/* stamp at which the oldest does */
	uint64_t window;
};

/* The caller makes room first: count < PAIRING_MAX. */
void pairing_wait(struct pairing *pairing, const struct pairing_entry *entry);
/* The slot of the oldest entry of these kinds (a bit set, 1 << gt_event) and
 * this address, or PAIRING_NONE. */
unsigned pairing_find(struct pairing *pairing, uint64_t address, unsigned kinds);
/* Nothing waits any more. */
void pairing_clear(struct pairing *pairing);
/* `index`: as found, or `oldest`. */
void pairing_take(struct pairing *pairing, unsigned index,
		  struct pairing_entry *entry);

/* I1 to I3 of pairing.c. With GNOMON_CLAIMS (unwind/claim.h). */
bool pairing_is_valid(const struct pairing *pairing);

#endif
