/*
 * worker.h: a worker: one gnomon command, run in its own process, which was
 * forked from a reader.
 */
#ifndef GNOMON_WORKER_H
#define GNOMON_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/serve/trace_reader.h"

/* Exit status of a worker, besides those of commands (status.h): out of memory,
 * or the answer is too large. */
#define WORKER_NO_ROOM 75

/* How an answer is compressed. */
enum worker_coding { WORKER_PLAIN, WORKER_GZIP, WORKER_ZSTD };

/* The header of the file READER_REQUEST. */
struct worker_request {
	uint64_t words;		/* bytes; each word is NUL-terminated */
	uint64_t input;		/* bytes for its standard input */
	uint64_t answer;	/* most bytes it may print; 0: no limit */
	uint64_t coding;	/* enum worker_coding */
};

/* Write a request into a new memory file. The descriptor, or -errno. */
int worker_write_request(const struct buffer *words,
			 const struct buffer *input, uint64_t answer,
			 enum worker_coding coding);
/* Run the command and exit with its status. Files as in trace_reader.h. */
_Noreturn void worker_run(const int *files, uint32_t slot,
			  const struct trace_reader_limits *limits);

#endif
