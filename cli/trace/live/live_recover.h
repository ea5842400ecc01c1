/*
 * live_recover.h: live file recovery: append the events of a live file to its
 * trace when the recorder is gone, and remove the live file.
 */
#ifndef GNOMON_LIVE_RECOVER_H
#define GNOMON_LIVE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/trace/decode/scan.h"

/* Facts from the first INFO chunk of a trace, which decide how to read it. */
struct trace_facts {
	enum scan_open_result result;
	int error;		/* errno, for SCAN_OPEN_ERROR */
	unsigned major;
	uint64_t trace_id;
	pid_t pid;
	pid_t parent;
	uint64_t start_time;	/* of the process; 0: unknown */
	uint64_t begin_ns;	/* of the recording, since 1970; 0: unknown */
	bool companion;		/* FILE.files: has no events of its own */
	uint64_t part;		/* of a recording in parts; 0: not in parts */
	char program[64];	/* its file name; "" if unknown */
	char live[4096];	/* path of the live file, "" if none */
};

/* -errno if the file cannot be opened; else 0, and see facts->result. */
int live_recover_facts(const char *path, struct trace_facts *facts);

enum live_recover_result {
	LIVE_RECOVER_NONE,	/* there is no live file */
	LIVE_RECOVER_DONE,	/* its events are now in the trace */
	LIVE_RECOVER_BUSY,	/* the trace is being written */
	LIVE_RECOVER_FAILED	/* *error says why; the live file was kept */
};

enum live_recover_result live_recover_trace(const char *path,
					    const struct trace_facts *facts,
					    int *error);

/* Does a process hold the trace's lock, i.e. is the trace being written? */
bool live_recover_is_locked(const char *path);

#endif
