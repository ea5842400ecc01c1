/*
 * comparing.h: shared by commands that compare: reads two traces, two
 * directories of traces, or two moments of one trace into the two sides of one
 * profile. Called by the main thread.
 *
 *	struct comparing comparing = { .reading = &reading };
 *
 *	command_parse(…, take, …)	take: comparing_take
 *	if (comparing_read(&comparing, operands, argv + 1))
 *		…
 *	comparing_free(&comparing);
 */
#ifndef GNOMON_COMPARING_H
#define GNOMON_COMPARING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/command/reading.h"
#include "cli/model/coverage.h"
#include "cli/stack/profile.h"

struct compared_side {
	const char *label;	/* trace, directory, or moment */
	uint64_t traces;
	uint64_t duration_ns;	/* of the longest trace */
	struct coverage coverage;	/* of all its traces */
	bool running;		/* still recorded: the end is now */
	struct figures sum;	/* of everything compared */
	/* Peaks of traces with sums only: no stack has a share of them. */
	uint64_t unshared_peak_bytes, unshared_peak_blocks;
};

struct comparing {
	struct reading *reading;
	struct compared_side sides[2];	/* before, after */
	struct profile *profile;	/* sealed after reading */
	int status;		/* EXIT_PARTIAL: parts are missing */
	bool of_functions;	/* two traces: by function, not by line */
	const char *moments[2];	/* --from, --to */
	struct buffer labels[2];	/* of moments */
};

/*
 * Like reading_take, except for --from and --to: with one trace they are the
 * moments to compare, with two they are filters.
 */
int comparing_take(struct comparing *comparing, int id, const char *value);
/* For calls without a comparison: makes --from and --to filters after all.
 * False: they are no valid filters. */
bool comparing_no_moments(struct comparing *comparing);
/* False: the error was logged, and the status is EXIT_NOTHING. */
bool comparing_read(struct comparing *comparing, int operands, char **argv);
/* Also valid after a failed comparing_read, or without one. */
void comparing_free(struct comparing *comparing);

#endif
