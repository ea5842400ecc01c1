/*
 * sql_worker.h: the process that reads traces and runs statements, with limits
 * that it cannot pass; and how the command speaks with it.
 *
 *	command ── statements ──▶ worker ── results ──▶ standard output
 *	   ▲                        │
 *	   └────── a status ◀───────┘
 *
 * Whatever a statement or a trace makes of the worker, the command tells what
 * it was, and can start another one. One thread.
 */
#ifndef GNOMON_SQL_WORKER_H
#define GNOMON_SQL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/sql/sql_session.h"

struct sql_limits {
	uint64_t timeout_ns;	/* of each statement; 0: none */
	uint64_t memory;	/* bytes of addresses; 0: none */
};

struct sql_worker {
	struct reading *reading;	/* borrowed */
	struct sql_limits limits;
	enum sql_mode mode;
	bool no_summary;
	pid_t pid;		/* 0: none runs */
	int request, answer;	/* pipes */
	bool stopped;		/* the last one was ended before its time */
};

/* Ends of a statement that are no exit status. */
enum { SQL_WORKER_INTERRUPTED = -1 };

/*
 * Run a text (sql_session_run) in a worker, which is started if none is there:
 * then traces are read first. Returns an exit status; SQL_WORKER_INTERRUPTED
 * after Ctrl-C. Whatever is wrong was said.
 */
int sql_worker_run(struct sql_worker *worker, const char *text);
/* The worker ends, if there is one. */
void sql_worker_end(struct sql_worker *worker);
/* SIGINT came since the last call. To be used between statements. */
bool sql_worker_was_interrupted(void);
/* SIGINT goes to the worker from now on. */
void sql_worker_catch(void);

#endif
