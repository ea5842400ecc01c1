/*
 * worker.h: one call: a command of gnomon, run in a process of its own, which
 * was forked from a reader.
 */
#ifndef GNOMON_WORKER_H
#define GNOMON_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/serve/trace_reader.h"

/* Its exit status, besides those of commands (status.h), where memory was
 * refused, or room for the answer. */
#define WORKER_NO_ROOM 75

/* How an answer is compressed. */
enum worker_coding { WORKER_PLAIN, WORKER_GZIP, WORKER_ZSTD };

/* What stands first in the file READER_REQUEST. */
struct worker_request {
	uint64_t words;		/* bytes of them, each ended by a NUL */
	uint64_t input;		/* bytes for its standard input */
	uint64_t answer;	/* bytes that it may print; 0: no limit */
	uint64_t coding;	/* enum worker_coding */
};

/* Write a request into a new memory file. The descriptor, or -errno. */
int worker_write_request(const struct buffer *words,
			 const struct buffer *input, uint64_t answer,
			 enum worker_coding coding);
/* Run it: ends the process with the command's status. Files as in
 * trace_reader.h. */
_Noreturn void worker_run(const int *files, uint32_t slot,
			  const struct trace_reader_limits *limits);

#endif
