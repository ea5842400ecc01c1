/*
 * comparing.h: what commands that compare have in common: two traces, two
 * directories of traces, or two moments of one trace, read into the two sides
 * of one profile. Called by the main thread.
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
	uint64_t duration_ns;	/* of the longest */
	struct coverage coverage;	/* of all its traces */
	bool running;		/* its end is now */
	struct figures sum;	/* of all that is compared */
	/* Of traces of which only sums are known: no stack has a share. */
	uint64_t unshared_peak_bytes, unshared_peak_blocks;
};

struct comparing {
	struct reading *reading;
	struct compared_side sides[2];	/* before, after */
	struct profile *profile;	/* sealed, once it was read */
	int status;		/* EXIT_PARTIAL: parts were missing */
	bool of_functions;	/* two traces: by functions, not by lines */
	const char *moments[2];	/* --from, --to */
	struct buffer labels[2];	/* of moments */
};

/*
 * reading_take, but for --from and --to: with one trace they are the moments
 * that are compared, with two they are filters.
 */
int comparing_take(struct comparing *comparing, int id, const char *value);
/* Where nothing is compared: --from and --to are filters after all. False: they
 * are none. */
bool comparing_no_moments(struct comparing *comparing);
/* False: what is wrong was said, and the status is EXIT_NOTHING. */
bool comparing_read(struct comparing *comparing, int operands, char **argv);
/* May follow a comparing_read that failed, or that never was. */
void comparing_free(struct comparing *comparing);

#endif
