/*
 * usage.h: writes the target's memory sizes over time as USAGE chunks. The
 * recorder only.
 */
#ifndef GNOMON_USAGE_H
#define GNOMON_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/memory/smaps.h"

#define USAGE_BATCH 16		/* points of a chunk */

struct usage_point {
	uint64_t tick;
	uint64_t value[GT_USAGE_VALUES];
};

struct usage {
	struct chunk_out *out;
	int pid;
	uint64_t page_kib;		/* of /proc/PID/statm */
	unsigned tick_shift;
	uint64_t due_ns;		/* when to read next */
	/* when to read all sizes next; not before detail_min_ns, for
	 * its cost */
	uint64_t detail_due_ns, detail_min_ns;
	uint64_t rest_ns;		/* delay of that while memory is
					 * unchanged */
	struct usage_point last;	/* last read */
	struct usage_point batch[USAGE_BATCH];
	unsigned held;			/* points of it, not yet written */
	uint64_t held_ns;		/* since when */
	/* for COUNTERS */
	uint64_t looks, details, cost_ns;
};

void usage_init(struct usage *usage, struct chunk_out *out, int pid,
		unsigned tick_shift);

/* Call often; reads sizes when due. */
void usage_poll(struct usage *usage, uint64_t now_ns);

/* Reads sizes now. */
void usage_now(struct usage *usage);

/* Reads sizes for the last time. sums: of all mappings if known; else they are
 * read once more. */
void usage_last(struct usage *usage, const struct smaps *sums);

/* Writes all held points. */
void usage_finish(struct usage *usage);

/* Delay until the next reading, after one that took `cost_ns`. */
uint64_t usage_gap_ns(uint64_t cost_ns);

#endif
