/*
 * trace_reader.h: the process that has read a trace, and makes a process of its
 * own for each call: a worker, which begins with all that was read and looked up, can
 * fail without harm, is ended by a kill, and is bounded by limits.
 *
 *	front ──── RUN, KILL ────▶ reader ── fork ──▶ worker ─▶ memory files
 *	  ▲                          │  ▲                │
 *	  └──── READY, ENDED ────────┘  └─── SIGCHLD ────┘
 *
 * A packet (SOCK_SEQPACKET) is a struct below; RUN brings the worker's files
 * with it. What ends the front ends its readers, and so their workers
 * (PR_SET_PDEATHSIG). The front has one thread, and so may fork.
 */
#ifndef GNOMON_TRACE_READER_H
#define GNOMON_TRACE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command/reading.h"

/* What the server was started with that holds for all calls. */
struct trace_reader_limits {
	uint64_t timeout_ns;	/* of a call */
	uint64_t memory;	/* bytes of addresses that it may take beyond
				 * what its reader has; 0: no limit */
};

/* What a reader is started with. */
struct trace_reader_setup {
	const char *trace;	/* NULL: it reads none */
	const struct trace_reader_limits *limits;
	char **words;		/* options of symbols, in a list of `count` */
	size_t count;
	uint32_t slot;		/* of progress */
};

/* What a worker gets: RUN's files, in this order. */
enum reader_file {
	READER_REQUEST,		/* struct worker_request, then its words, then
				 * its input: worker_write_request */
	READER_OUT,		/* what the command prints, */
	READER_SAID,		/* on standard error, */
	READER_PACKED,		/* and the first of these compressed */
	READER_FILES
};

enum reader_kind {
	READER_RUN,		/* begin a call */
	READER_KILL,		/* end it */
	READER_READY,		/* the trace was read: `status` */
	READER_ENDED		/* a worker has: its wait status */
};

struct trace_reader_packet {
	uint32_t kind, job;
	int32_t status;
	uint32_t slot;		/* of progress: progress_board.h */
};

/* Read the trace, and serve packets until the other side closes. In a process of
 * its own. */
_Noreturn void trace_reader_serve(int socket,
				  const struct trace_reader_setup *setup);

/* Send a packet, with files or without; receive one. 0, -errno; -EPIPE: the
 * other side is gone. */
int trace_reader_send(int socket, const struct trace_reader_packet *packet,
		      const int *files);
/* `files`: READER_FILES of them, or each -1. */
int trace_reader_receive(int socket, struct trace_reader_packet *packet,
			 int *files);

#endif
