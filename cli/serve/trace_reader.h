/*
 * trace_reader.h: the process that has read a trace and forks a worker for each
 * call. A worker inherits all data and symbols read so far, may crash without
 * harm, can be killed, and has limits.
 *
 *	front ──── RUN, KILL ────▶ reader ── fork ──▶ worker ─▶ memory files
 *	  ▲                          │  ▲                │
 *	  └──── READY, ENDED ────────┘  └─── SIGCHLD ────┘
 *
 * A packet (SOCK_SEQPACKET) is a struct below; RUN passes the worker's
 * descriptors. When the front dies, its readers and their workers die too
 * (PR_SET_PDEATHSIG). The front has one thread and so may fork.
 */
#ifndef GNOMON_TRACE_READER_H
#define GNOMON_TRACE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command/trace_args.h"

/* Limits from the server's command line, for all calls. */
struct trace_reader_limits {
	uint64_t timeout_ns;	/* for each call */
	uint64_t memory;	/* bytes of address space beyond its reader's;
				 * 0: no limit */
};

/* Arguments of a reader. */
struct trace_reader_setup {
	const char *trace;	/* NULL: none */
	const struct trace_reader_limits *limits;
	char **words;		/* symbol options, `count` of them */
	size_t count;
	uint32_t slot;		/* in progress_board.h */
};

/* The descriptors of a worker, passed with RUN in this order. */
enum reader_file {
	READER_REQUEST,		/* struct worker_request, then words, then
				 * input: worker_write_request */
	READER_OUT,		/* standard output */
	READER_SAID,		/* standard error */
	READER_PACKED,		/* compressed standard output */
	READER_FILES
};

enum reader_kind {
	READER_RUN,		/* start a call */
	READER_KILL,		/* kill its worker */
	READER_READY,		/* the trace is read: exit `status` */
	READER_ENDED		/* a worker ended: its wait status */
};

struct trace_reader_packet {
	uint32_t kind, job;
	int32_t status;
	uint32_t slot;		/* in progress_board.h */
};

/* Read the trace and handle packets until the other side closes. Runs in its
 * own process. */
_Noreturn void trace_reader_serve(int socket,
				  const struct trace_reader_setup *setup);

/* Send a packet, with or without descriptors; receive one. 0 or -errno; -EPIPE:
 * the other side has closed. */
int trace_reader_send(int socket, const struct trace_reader_packet *packet,
		      const int *files);
/* `files`: READER_FILES of them, or each -1. */
int trace_reader_receive(int socket, struct trace_reader_packet *packet,
			 int *files);

#endif
