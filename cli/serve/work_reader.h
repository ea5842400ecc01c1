/*
 * work_reader.h: readers as the front sees them: started when a call wants one,
 * ended when nothing has wanted it for longest, or its trace has changed. One
 * thread, the front's.
 */
#ifndef GNOMON_WORK_READER_H
#define GNOMON_WORK_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/event_loop.h"
#include "cli/serve/served.h"
#include "cli/serve/work.h"

/* Readers that have nothing to do, and are kept with what they have read. */
#define WORK_READERS_IDLE 6

struct work_reader {
	struct event_source source;	/* its socket */
	struct work_reader *next;
	struct work *work;
	struct served *trace;	/* NULL: it has read nothing */
	uint64_t generation;	/* of what it has read */
	pid_t pid;		/* 0: it has ended, and may be another's now */
	uint32_t slot;		/* of progress, until it is ready */
	int said;		/* memory file of its standard error */
	uint64_t begun_ms;
	bool ready;
	int status;		/* an exit status, once it is ready */
	unsigned jobs;		/* that run */
};

/* The one for this generation of the trace; NULL trace: for calls that read
 * several. NULL: it was not started yet. */
struct work_reader *work_reader_find(struct work *work, struct served *trace);
/* NULL: there can be none, and errno says why. */
struct work_reader *work_reader_start(struct work *work, struct served *trace);
/* How many are not ready. */
unsigned work_reader_reading(const struct work *work);
/* Its socket is closed, and so it ends, and its workers. */
void work_reader_end(struct work_reader *reader);
/* Children have ended: their numbers are no readers' any more. */
void work_reader_reap(struct work *work);
/* Those that are idle and of no use, or too many. */
void work_reader_retire(struct work *work);

/* In work.c: a packet from the reader, or, `packet` NULL, it is gone. */
void work_hear(struct work_reader *reader,
	       const struct trace_reader_packet *packet);

#endif
