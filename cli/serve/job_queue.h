/*
 * job_queue.h: the queue of API calls. Identical calls share one job. A job is
 * cancelled when no client waits for it. A fixed number of jobs runs at once;
 * others wait in order of arrival. A connection has one call at a time, so none
 * can starve another. One thread, the front's.
 *
 *	waiting ── slot free and reader ready ──▶ running ── ENDED ──▶ done
 *	   └────── no client waits: killed and dropped ───────┘
 */
#ifndef GNOMON_JOB_QUEUE_H
#define GNOMON_JOB_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/answer.h"
#include "cli/serve/event_loop.h"
#include "cli/serve/trace_reader.h"
#include "cli/serve/route.h"
#include "cli/serve/served.h"

/* Waiting jobs; more are refused. */
#define JOBS_WAITING_MAX 1024
/* Bytes of answers being sent or cached; above it, calls are refused. */
#define JOB_ANSWERS_MAX (UINT64_C(1) << 30)

/* A request to run a command. */
struct job_request {
	const struct route *route;
	struct served *traces[2];	/* the second one for a diff, or NULL */
	struct buffer words;	/* from route_words; without traces */
	const char *operand;
	struct buffer input;	/* SQL statements */
	enum worker_coding coding;
};

/* Bytes of an answer, held in memory, and of a download, held in a temporary
 * file if one can be created. */
#define JOB_ANSWER_MAX (UINT64_C(256) << 20)
#define JOB_DOWNLOAD_MAX (UINT64_C(8) << 30)

/* A waiting client; embed it. */
struct job_client {
	struct job_client *next;
	struct job *job;	/* NULL: not waiting */
	char *ticket;		/* NULL: none */
	/* Called with the answer, which the client drops. The client is no
	 * longer waiting. */
	void (*done)(struct job_client *client, struct answer *answer);
};

/* Options from the server's command line, as words of commands. */
#define JOB_OPTIONS_MAX 64
struct job_options {
	char *list[JOB_OPTIONS_MAX];
	size_t count;
};

struct job_queue {
	struct event_loop *loop;
	struct trace_reader_limits limits;
	const struct job_options *common;	/* for all commands that look up
						 * symbols */
	const struct job_options *sources;	/* for commands that read source
						 * files */
	unsigned running_max;
	struct answer_cache cache;
	/* The remaining members start as zeros. */
	struct job *jobs;	/* in order of arrival */
	unsigned running, waiting;
	uint32_t last_job;
	struct reader_process *readers;	/* most recently used first */
	unsigned reader_count;
};

/* The key of an answer: hash of the call's words and traces' generations; never
 * 0. */
uint64_t job_request_key(const struct job_request *call);
/*
 * Start a call, or join the same call if it is running. An older call with the
 * same ticket is cancelled. `done` is called later, or before this returns if
 * the answer is cached or the queue is full.
 */
void job_queue_begin(struct job_queue *queue, const struct job_request *call,
		     struct job_client *client);
/* The client no longer waits. */
void job_queue_leave(struct job_queue *queue, struct job_client *client);
/* Cancel the calls of a ticket; they get an error. Returns how many. */
unsigned job_queue_cancel(struct job_queue *queue, const char *ticket);
/* The answer to GET /api/v1/work. */
void job_queue_json(const struct job_queue *queue, struct buffer *out);
/* The progress of calls with tickets, as server-sent events; only those that
 * changed. */
void job_queue_progress(struct job_queue *queue, struct buffer *out);
void job_queue_close(struct job_queue *queue);

#endif
