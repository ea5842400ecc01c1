/*
 * work.h: the queue of API calls. Identical calls share one job. A job is
 * cancelled when no client waits for it. A fixed number of jobs runs at once;
 * others wait in order of arrival. A connection has one call at a time, so none
 * can starve another. One thread, the front's.
 *
 *	waiting ── slot free and reader ready ──▶ running ── ENDED ──▶ done
 *	   └────── no client waits: killed and dropped ───────┘
 */
#ifndef GNOMON_WORK_H
#define GNOMON_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/answer.h"
#include "cli/serve/event_loop.h"
#include "cli/serve/trace_reader.h"
#include "cli/serve/route.h"
#include "cli/serve/served.h"

/* Waiting jobs; more are refused. */
#define WORK_WAITING_MAX 1024
/* Bytes of answers being sent or cached; above it, calls are refused. */
#define WORK_ANSWERS_MAX (UINT64_C(1) << 30)

/* A request to run a command. */
struct work_call {
	const struct route *route;
	struct served *traces[2];	/* the second one for a diff, or NULL */
	struct buffer words;	/* from route_words; without traces */
	const char *operand;
	struct buffer input;	/* SQL statements */
	enum worker_coding coding;
};

/* Bytes of an answer, held in memory, and of a download, held in a temporary
 * file if one can be created. */
#define WORK_ANSWER_MAX (UINT64_C(256) << 20)
#define WORK_DOWNLOAD_MAX (UINT64_C(8) << 30)

/* A waiting client; embed it. */
struct work_client {
	struct work_client *next;
	struct job *job;	/* NULL: not waiting */
	char *ticket;		/* NULL: none */
	/* Called with the answer, which the client drops. The client is no
	 * longer waiting. */
	void (*done)(struct work_client *client, struct answer *answer);
};

/* Options from the server's command line, as words of commands. */
#define WORK_WORDS_MAX 64
struct work_words {
	char *list[WORK_WORDS_MAX];
	size_t count;
};

struct work {
	struct event_loop *loop;
	struct trace_reader_limits limits;
	const struct work_words *common;	/* for all commands that look up
						 * symbols */
	const struct work_words *sources;	/* for commands that read source
						 * files */
	unsigned running_max;
	struct answer_cache cache;
	/* The remaining members start as zeros. */
	struct job *jobs;	/* in order of arrival */
	unsigned running, waiting;
	uint32_t last_job;
	struct work_reader *readers;	/* most recently used first */
	unsigned reader_count;
};

/* The key of an answer: hash of the call's words and traces' generations; never
 * 0. */
uint64_t work_key(const struct work_call *call);
/*
 * Start a call, or join the same call if it is running. An older call with the
 * same ticket is cancelled. `done` is called later, or before this returns if
 * the answer is cached or the queue is full.
 */
void work_begin(struct work *work, const struct work_call *call,
		struct work_client *client);
/* The client no longer waits. */
void work_leave(struct work *work, struct work_client *client);
/* Cancel the calls of a ticket; they get an error. Returns how many. */
unsigned work_cancel(struct work *work, const char *ticket);
/* The answer to GET /api/v1/work. */
void work_json(const struct work *work, struct buffer *out);
/* The progress of calls with tickets, as server-sent events; only those that
 * changed. */
void work_progress(struct work *work, struct buffer *out);
void work_close(struct work *work);

#endif
