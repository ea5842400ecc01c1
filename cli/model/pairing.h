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

#include "cli/trace/records.h"

struct pairing_entry {
	struct trace_event event;
	uint32_t lane;
	uint32_t chain;		/* that it goes on with; 0: none */
};

/* More are not expected within some microseconds; a file that has more is
 * damaged or hostile, and the oldest gives up its place. */
#define PAIRING_MAX 1024
/* So that entries are moved once for as many that come, at most. */
#define PAIRING_ROOM (2 * PAIRING_MAX)

struct pairing {
	struct pairing_entry entries[PAIRING_ROOM];	/* oldest first, */
	size_t first;					/* from here on */
	size_t count;
	/* Entries by some bits of their address: most that are sought are not
	 * here, and a hostile trace keeps many here for ever. */
	uint16_t present[PAIRING_MAX];
	uint64_t expires;	/* stamp at which the oldest does */
	uint64_t window;
};

/* The caller makes room first: count < PAIRING_MAX. */
void pairing_wait(struct pairing *pairing, const struct trace_event *event,
		  uint32_t lane, uint32_t chain);
/* Index of the oldest entry of this kind (a bit set, 1 << gt_event) and
 * address, or -1. */
int pairing_find(struct pairing *pairing, uint64_t address, unsigned kinds);
/* Nothing waits any more. */
void pairing_clear(struct pairing *pairing);
void pairing_take(struct pairing *pairing, size_t index,
		  struct pairing_entry *entry);

#endif
