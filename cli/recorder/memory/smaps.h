/*
 * smaps.h: parses sizes in /proc/PID/smaps and smaps_rollup. No state; any
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

/* Parses a line "key number kB". False: another key, or no such line. */
bool smaps_number(const char *line, const char *key, uint64_t *kib);

/* Parses a line "Key: number kB" into *smaps. False: none of the sizes above;
 * *smaps is unchanged. */
bool smaps_line(struct smaps *smaps, const char *line);

#endif
