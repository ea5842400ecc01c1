/*
 * output.h: expands the output name pattern and opens the trace file. Never
 * overwrites files of others or follows links that others placed there.
 */
#ifndef GNOMON_OUTPUT_H
#define GNOMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

struct output {
	int fd;
	bool regular;		/* our own file: locked, can be truncated */
	char path[GT_PATH_MAX];	/* absolute; as given if not a file */
	char message[512];	/* for the user; "": no error */
};

struct output_names {
	const char *pattern;	/* option output */
	bool force;
	bool child;		/* of a recorded process, which owns the name */
	int pid;
	uint64_t start_ns;	/* of the process, CLOCK_REALTIME: newer files
				 * are of this run, and kept */
	uint64_t unix_seconds;
	const char *program;
	const char *host;
};

/* Stores the fallback directories. Once, from the environment. */
void output_environment(char *const *environment);

/* Replaces %p %t %e %n %h %%. False: the name does not fit. */
bool output_expand(const struct output_names *names, unsigned counter,
		   char *to, size_t size);

/* Opens the trace. 0 or -errno, with a message. The recorder. */
int output_open(struct output *output, const struct output_names *names);

#endif
