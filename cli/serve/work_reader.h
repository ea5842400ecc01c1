/*
 * work_reader.h: the front's side of readers. A reader is started when a call
 * needs it. It is ended when its trace has changed, or when it is the longest
 * idle of too many. One thread, the front's.
 */
#ifndef GNOMON_WORK_READER_H
#define GNOMON_WORK_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/event_loop.h"
#include "cli/serve/served.h"
#include "cli/serve/work.h"

/* Idle readers that are kept, with the data they have read. */
#define WORK_READERS_IDLE 6

struct work_reader {
	struct event_source source;	/* its socket */
	struct work_reader *next;
	struct work *work;
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
struct work_reader *work_reader_find(struct work *work, struct served *trace);
/* NULL: failed; errno says why. */
struct work_reader *work_reader_start(struct work *work, struct served *trace);
/* How many readers are still reading. */
unsigned work_reader_reading(const struct work *work);
/* Close its socket and kill it; its workers end with it. */
void work_reader_end(struct work_reader *reader);
/* Children have ended: forget their pids. */
void work_reader_reap(struct work *work);
/* End idle readers that are outdated or too many. */
void work_reader_retire(struct work *work);

/* In work.c: handle a packet from the reader; `packet` NULL: the reader is
 * gone. */
void work_subscribe(struct work_reader *reader,
		    const struct trace_reader_packet *packet);

#endif
