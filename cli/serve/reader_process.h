/*
 * reader_process.h: the front's side of readers. A reader is started when a
 * call needs it. It is ended when its trace has changed, or when it is the
 * longest idle of too many. One thread, the front's.
 */
#ifndef GNOMON_READER_PROCESS_H
#define GNOMON_READER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/event_loop.h"
#include "cli/serve/served.h"
#include "cli/serve/job_queue.h"

/* Idle readers that are kept, with the data they have read. */
#define READERS_IDLE_MAX 6

struct reader_process {
	struct event_source source;	/* its socket */
	struct reader_process *next;
	struct job_queue *queue;
	struct served *trace;	/* NULL: for calls that read several traces */
	uint64_t generation;	/* of the trace when it was read */
	pid_t pid;		/* 0: ended; the pid may be reused */
	uint32_t slot;		/* in progress_board.h, while it reads */
	int said;		/* memory file: its standard error */
	uint64_t begun_ms;
	bool ready;
	int status;		/* exit status, once ready */
	unsigned jobs;		/* running jobs */
};

/* The reader of the trace's current generation; NULL trace: the reader for
 * calls that read several. NULL: not started yet. */
struct reader_process *reader_process_find(struct job_queue *queue,
					   struct served *trace);
/* NULL: failed; errno says why. */
struct reader_process *reader_process_start(struct job_queue *queue,
					    struct served *trace);
/* How many readers are still reading. */
unsigned reader_process_reading(const struct job_queue *queue);
/* Close its socket and kill it; its workers end with it. */
void reader_process_end(struct reader_process *reader);
/* Children have ended: forget their pids. */
void reader_process_reap(struct job_queue *queue);
/* End idle readers that are outdated or too many. */
void reader_process_retire(struct job_queue *queue);

/* In job_queue.c: handle a packet from the reader; `packet` NULL: the reader is
 * gone. */
void job_queue_subscribe(struct reader_process *reader,
			 const struct trace_reader_packet *packet);

#endif
