/*
 * rewrite.h: a new trace beside an old one. The file has no name until all of
 * it was written; then it gets its name at once, or not at all.
 */
#ifndef GNOMON_REWRITE_H
#define GNOMON_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/base/text/buffer.h"
#include "cli/trace/write/compose.h"

struct rewrite {
	const char *path;	/* of the result */
	char *temporary;	/* NULL: the file has no name yet */
	int fd;			/* -1: none is open */
	bool force;		/* replace what is there */
	int level;		/* zstd's */
	uint64_t trace_id;
	uint64_t sequence;	/* of the next chunk */
	uint64_t written;	/* bytes in the file */
	struct buffer pending;	/* behind them */
	struct buffer packed;
	int error;		/* errno of the first write that failed */
	struct notes *notes;
};

/*
 * Prepare to write `path` from the trace `input`. False: it cannot be, and the
 * reason is noted: it exists (unless `force`), it is the input, or is no
 * regular file.
 */
bool rewrite_open(struct rewrite *rewrite, const char *input,
		  const char *path, bool force, int level,
		  struct notes *notes);

/* The header; once, before the first chunk. */
void rewrite_header(struct rewrite *rewrite, uint64_t trace_id);

/*
 * A chunk around `payload`: of `chunk` count type, ring, generation, first and
 * last. `whole`: compress the payload as a whole, if that makes it smaller.
 */
void rewrite_chunk(struct rewrite *rewrite, const struct chunk *chunk,
		   const struct buffer *payload, bool whole);

/* Give the file its name. False: it could not be written, and that is noted;
 * then nothing is left of it. */
bool rewrite_commit(struct rewrite *rewrite);
/* Leave nothing behind. Also allowed after the above. */
void rewrite_close(struct rewrite *rewrite);

#endif
