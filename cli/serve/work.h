/*
 * work.h: calls that are under way. The same call, made again while it runs, is
 * one job; it is ended when nobody waits for it any more. So many jobs run at
 * once, the others wait in the order in which they came; a connection has one
 * call at a time, so none can take the turns of another. One thread, the
 * front's.
 *
 *	waiting ── a place is free, its reader is ready ──▶ running ── ENDED ──▶ done
 *	   └────────────── nobody waits for it: killed, forgotten ──────────┘
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

/* Jobs that wait; more are refused. */
#define WORK_WAITING_MAX 1024
/* Bytes of answers that are being sent, or are kept; while there are more, calls
 * are refused. */
#define WORK_ANSWERS_MAX (UINT64_C(1) << 30)

/* What is asked for. */
struct work_call {
	const struct route *route;
	struct served *traces[2];	/* the second of a diff, or NULL */
	struct buffer words;	/* route_words; without traces */
	const char *operand;
	struct buffer input;	/* of statements */
	enum worker_coding coding;
};

/* Bytes of an answer, which is in memory, and of a download, which is in a
 * temporary file, where there is a place for one. */
#define WORK_ANSWER_MAX (UINT64_C(256) << 20)
#define WORK_DOWNLOAD_MAX (UINT64_C(8) << 30)

/* Who waits; embedded. */
struct work_client {
	struct work_client *next;
	struct job *job;	/* NULL: it does not wait */
	char *ticket;		/* NULL: it has none */
	/* The answer is the client's to drop. It does not wait any more. */
	void (*done)(struct work_client *client, struct answer *answer);
};

/* What the server was started with, as words of commands. */
#define WORK_WORDS_MAX 64
struct work_words {
	char *list[WORK_WORDS_MAX];
	size_t count;
};

struct work {
	struct event_loop *loop;
	struct trace_reader_limits limits;
	const struct work_words *common;	/* for all that have symbols */
	const struct work_words *sources;	/* for what reads source files */
	unsigned running_max;
	struct answer_cache cache;
	/* The rest begins with zeros. */
	struct job *jobs;	/* in the order in which they came */
	unsigned running, waiting;
	uint32_t last_job;
	struct work_reader *readers;	/* the one used last first */
	unsigned reader_count;
};

/* The hash of what a call will answer: of its words and generations; not 0. */
uint64_t work_key(const struct work_call *call);
/*
 * Begin a call, or join the one that runs; an older one of the same ticket is
 * given up. `done` is called later, or, if the answer is known or there is no
 * place, before this returns.
 */
void work_begin(struct work *work, const struct work_call *call,
		struct work_client *client);
/* Nobody waits there any more. */
void work_leave(struct work *work, struct work_client *client);
/* Those of a ticket are answered that they were ended. How many there were. */
unsigned work_cancel(struct work *work, const char *ticket);
/* What GET /api/v1/work answers. */
void work_json(const struct work *work, struct buffer *out);
/* How far those with tickets have come, as server-sent events; of which there is
 * nothing new, nothing. */
void work_progress(struct work *work, struct buffer *out);
void work_close(struct work *work);

#endif
