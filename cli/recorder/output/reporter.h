/*
 * reporter.h: runs `gnomon report` on this recording's trace, at the program's
 * end or on request. It is a separate process, as the recorder has no code for
 * symbols and filters.
 */
#ifndef GNOMON_REPORTER_H
#define GNOMON_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/trace/format/trace_format.h"

struct reporter {
	bool wanted;		/* at the end */
	int error;		/* copy of standard error; -1: none */
	char command[GT_PATH_MAX];	/* "": not found */
	const struct recording *r;
	const char *trace;
	long pid;		/* of the running command; 0: none */
	unsigned left;		/* sections still to be printed */
};

/* `trace` must stay valid. Once in each recorded process. */
void reporter_begin(struct reporter *reporter, const struct recording *r,
		    const char *trace);

/* Starts a report. 0, or -errno with the reason in *why. */
int reporter_ask(struct reporter *reporter, int tid, const char **why);

/* In each round: continues a running report. */
void reporter_step(struct reporter *reporter);

/* Prints the report at the end, if requested, and waits for it. The trace is
 * complete. */
void reporter_finish(struct reporter *reporter);

#endif
