/*
 * usage.h: how much memory the target has, over time, as USAGE chunks. The
 * writer only.
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
	unsigned tick_shift;
	uint64_t due_ns;		/* of the next look */
	/* of the next with all figures; not before `least`, for its cost */
	uint64_t detail_due_ns, detail_least_ns;
	uint64_t rest_ns;		/* that it is put off by, at rest */
	struct usage_point last;	/* that was looked at */
	struct usage_point batch[USAGE_BATCH];
	unsigned held;			/* points of it, not yet written */
	uint64_t held_ns;		/* since when */
	/* for COUNTERS */
	uint64_t looks, details, cost_ns;
};

void usage_init(struct usage *usage, struct chunk_out *out, int pid,
		unsigned tick_shift);

/* To be called often; looks when it is time to. */
void usage_look(struct usage *usage, uint64_t now_ns);

/* Looks at sizes now. */
void usage_now(struct usage *usage);

/* A last look. sums: of all mappings, where they are known; else they are read
 * once more. */
void usage_last(struct usage *usage, const struct smaps *sums);

/* Everything held is written. */
void usage_finish(struct usage *usage);

/* How long after a look that cost so much the next one is due. */
uint64_t usage_gap_ns(uint64_t cost_ns);

#endif
