/*
 * smaps.h: the figures of /proc/PID/smaps and smaps_rollup. No state; any
 * thread.
 */
#ifndef GNOMON_SMAPS_H
#define GNOMON_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

enum smaps_figure {
	SMAPS_RSS,
	SMAPS_PSS,
	SMAPS_SHARED_CLEAN,
	SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN,
	SMAPS_PRIVATE_DIRTY,
	SMAPS_ANONYMOUS,
	SMAPS_HUGE,		/* anonymous memory in large pages */
	SMAPS_SWAP,
	SMAPS_FIGURES
};

struct smaps {
	uint64_t kib[SMAPS_FIGURES];
};

/* A line "key   number kB": whether it begins with this key and is one. */
bool smaps_number(const char *line, const char *key, uint64_t *kib);

/* A line "Key:  number kB". Whether it was one of the figures; others, and
 * whatever else the line may be, leave *smaps alone. */
bool smaps_line(struct smaps *smaps, const char *line);

#endif
