/*
 * stats.h: writes a line of measures to TRACE.stats at an interval
 * (--stats-every). The recorder only.
 */
#ifndef GNOMON_STATS_H
#define GNOMON_STATS_H

#include <stdint.h>

#include "cli/recorder/live_blocks/block_table.h"

struct recorder;

struct stats {
	struct recorder *rec;	/* NULL: not requested yet */
	int fd;			/* -1: it could not be created */
	uint64_t every_ns;	/* 0: no lines */
	uint64_t due_ns;
	/* at the last line */
	uint64_t last_ns, last_blocks;
};

/* Creates the file TRACE.stats, with its first line. Returns 0 even if that
 * fails: the error is reported, and the recording goes on. */
int stats_init(struct stats *stats, struct recorder *rec);

/* Sets the interval; 0: no more lines. Opens the live heap if needed. */
void stats_every(struct recorder *rec, uint64_t every_ns);

/* Time until the next line. UINT64_MAX: never. */
uint64_t stats_wait_ns(const struct stats *stats);

/* Write a line if one is due; write the last line. */
void stats_poll(struct stats *stats, uint64_t now_ns);
void stats_finish(struct stats *stats);

#endif
