/*
 * sql_worker.h: the worker process, which reads traces and runs statements
 * under limits, and the command's interface to it.
 *
 *	command ── statements ──▶ worker ── results ──▶ standard output
 *	   ▲                        │
 *	   └────── a status ◀───────┘
 *
 * Whatever makes the worker die, the command reports the reason and can start
 * another worker. One thread.
 */
#ifndef GNOMON_SQL_WORKER_H
#define GNOMON_SQL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/sql/sql_session.h"

struct sql_limits {
	uint64_t timeout_ns;	/* for each statement; 0: none */
	uint64_t memory;	/* bytes of address space; 0: none */
};

struct sql_worker {
	struct trace_args *args;	/* borrowed */
	struct sql_limits limits;
	enum sql_mode mode;
	bool no_summary;
	pid_t pid;		/* 0: not running */
	int request, answer;	/* pipes */
	bool stopped;		/* the last worker was killed */
};

/* Results that are not an exit status. */
enum { SQL_WORKER_INTERRUPTED = -1 };

/*
 * Run a text (sql_session_run) in the worker. Starts a worker if there is none,
 * which first reads the traces. Returns an exit status; SQL_WORKER_INTERRUPTED
 * after Ctrl-C. Errors have been logged.
 */
int sql_worker_run(struct sql_worker *worker, const char *text);
/* End the worker, if there is one. */
void sql_worker_end(struct sql_worker *worker);
/* Whether SIGINT came since the last call. Use it between statements. */
bool sql_worker_was_interrupted(void);
/* Make SIGINT interrupt the worker from now on. */
void sql_worker_catch(void);

#endif
