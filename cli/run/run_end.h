/*
 * run_end.h: after the program of `gnomon run` has ended: wait for the
 * recorder, find the trace, print a summary of the recording.
 */
#ifndef GNOMON_RUN_END_H
#define GNOMON_RUN_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_end_trace {
	char *path;
	uint64_t begin_ns;	/* of the recording, since 1970 */
};

/* The traces of a process, in the order in which they were begun: exec in
 * the same process begins a new one. */
struct run_end_traces {
	struct run_end_trace *list;
	size_t count;
	size_t capacity;
};

/*
 * Wait until the recorders of the process have finished, at most 30 s, and
 * recover live files that a killed recorder left. `pattern` is absolute, with
 * its % parts. The process must still be a zombie, because the recorder reads
 * its exit status from /proc.
 */
void run_end_wait(const char *pattern, pid_t pid, uint64_t start_time,
		  struct run_end_traces *traces);
void run_end_paragraph(const char *pattern,
		       const struct run_end_traces *traces);
void run_end_free(struct run_end_traces *traces);

/* Is it /dev/stdout, /dev/fd/N or another name of an inherited descriptor? */
bool run_end_is_descriptor(const char *pattern);

/* Field 22 of /proc/PID/stat; 0: unreadable. */
uint64_t run_end_start_time(pid_t pid);

/*
 * The pattern with %e, %h and %% filled in, which are known before the start.
 * NULL if other % parts remain. To be freed.
 */
char *run_end_known_name(const char *pattern, const char *program);

#endif
