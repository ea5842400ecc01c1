/*
 * reporter.h: `gnomon report` of the trace at hand, when the program ends or
 * when somebody asks for it. The command does it in a process of its own:
 * names, lines and filters are the reading side's.
 */
#ifndef GNOMON_REPORTER_H
#define GNOMON_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/trace/format/trace_format.h"

struct reporter {
	bool wanted;		/* at the end */
	int error;		/* standard error as it was; -1: not kept */
	char command[GT_PATH_MAX];	/* "": it is not to be found */
	const struct recording *r;
	const char *trace;
	long pid;		/* of the command at work; 0: none */
	unsigned left;		/* sections that are still to be printed */
};

/* `trace` stays. In each process that is recorded. */
void reporter_begin(struct reporter *reporter, const struct recording *r,
		    const char *trace);

/* Begins one. 0, or -errno and what is wrong in words. */
int reporter_ask(struct reporter *reporter, int tid, const char **why);

/* In each round: goes on with it. */
void reporter_step(struct reporter *reporter);

/* The one at the end, if it is wanted; waits until it is printed. The trace
 * is whole. */
void reporter_finish(struct reporter *reporter);

#endif
