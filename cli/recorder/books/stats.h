/*
 * stats.h: a line of figures at an interval, beside the trace (--stats-every).
 * The writer only.
 */
#ifndef GNOMON_STATS_H
#define GNOMON_STATS_H

#include <stdint.h>

#include "cli/recorder/books/ledger.h"

struct writer;

struct stats {
	struct writer *w;	/* NULL: never wanted yet */
	int fd;			/* -1: it could not be made */
	uint64_t every_ns;	/* 0: not wanted */
	uint64_t due_ns;
	/* at the last line */
	uint64_t last_ns, last_blocks;
};

/* Makes the file TRACE.stats, with its first line. 0; a file that cannot be
 * made is said and done without. */
int stats_init(struct stats *stats, struct writer *w);

/* Another interval from now on; 0: no more lines. Opens the books if need
 * be. */
void stats_every(struct writer *w, uint64_t every_ns);

/* Until then. UINT64_MAX: never. */
uint64_t stats_wait_ns(const struct stats *stats);

/* A line, if it is time for one; a last one. */
void stats_look(struct stats *stats, uint64_t now_ns);
void stats_finish(struct stats *stats);

#endif
