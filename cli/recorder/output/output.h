/*
 * output.h: where the trace goes: names made from a pattern, and opening them
 * without ever overwriting or following what others put there.
 */
#ifndef GNOMON_OUTPUT_H
#define GNOMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

struct output {
	int fd;
	bool regular;		/* a file of ours: locked, can be cut */
	char path[GT_PATH_MAX];	/* absolute; as given if not a file */
	char message[512];	/* to tell the user, "" if all is well */
};

struct output_names {
	const char *pattern;	/* option output */
	bool force;
	bool child;		/* of a recorded process, which has the name */
	int pid;
	uint64_t start_ns;	/* of the process, CLOCK_REALTIME: what is
				 * younger is of this run, and kept */
	uint64_t unix_seconds;
	const char *program;
	const char *host;
};

/* Remembers the directories to fall back to. Once, from the environment. */
void output_environment(char *const *environment);

/* Replaces %p %t %e %n %h %%. False: does not fit. */
bool output_expand(const struct output_names *names, unsigned counter,
		   char *to, size_t size);

/* Opens it. 0 or -errno, with a message. The writer. */
int output_open(struct output *output, const struct output_names *names);

#endif
