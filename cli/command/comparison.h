/*
 * comparison.h: shared by commands that compare: reads two traces, two
 * directories of traces, or two moments of one trace into the two sides of one
 * profile. Called by the main thread.
 *
 *	struct comparing comparing = { .reading = &reading };
 *
 *	command_parse(…, take, …)	take: comparison_take
 *	if (comparison_read(&comparing, operands, argv + 1))
 *		…
 *	comparison_free(&comparing);
 */
#ifndef GNOMON_COMPARISON_H
#define GNOMON_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/command/trace_args.h"
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

struct comparison {
	struct trace_args *args;
	struct compared_side sides[2];	/* before, after */
	struct profile *profile;	/* sealed after reading */
	int status;		/* EXIT_PARTIAL: parts are missing */
	bool of_functions;	/* two traces: by function, not by line */
	const char *moments[2];	/* --from, --to */
	struct buffer labels[2];	/* of moments */
};

/*
 * Like trace_args_take, except for --from and --to: with one trace they are the
 * moments to compare, with two they are filters.
 */
int comparison_take(struct comparison *comparison, int id, const char *value);
/* For calls without a comparison: makes --from and --to filters after all.
 * False: they are no valid filters. */
bool comparison_no_moments(struct comparison *comparison);
/* False: the error was logged, and the status is EXIT_NOTHING. */
bool comparison_read(struct comparison *comparison, int operands, char **argv);
/* Also valid after a failed comparison_read, or without one. */
void comparison_free(struct comparison *comparison);

#endif
