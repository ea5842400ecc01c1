/*
 * rewrite.h: writes a new trace file. The file has no name until it is
 * complete; then it gets its name in one step, or not at all.
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
	bool force;		/* replace an existing file */
	int level;		/* zstd's */
	uint64_t trace_id;
	uint64_t sequence;	/* of the next chunk */
	uint64_t written;	/* bytes in the file */
	struct buffer pending;	/* bytes to write after them */
	struct buffer packed;
	int error;		/* errno of the first write that failed */
	struct notes *notes;
};

/*
 * Prepare to write `path` from the trace `input`. False, with a note: the path
 * exists (unless `force`), is the input, or is not a regular file.
 */
bool rewrite_open(struct rewrite *rewrite, const char *input,
		  const char *path, bool force, int level,
		  struct notes *notes);

/* The header; call once, before the first chunk. */
void rewrite_header(struct rewrite *rewrite, uint64_t trace_id);

/*
 * A chunk around `payload`. Of `chunk`, type, ring, generation, first and last
 * are used. `whole`: compress the payload as a whole, if that makes it smaller.
 */
void rewrite_chunk(struct rewrite *rewrite, const struct chunk *chunk,
		   const struct buffer *payload, bool whole);

/* Give the file its name. False, with a note: it could not be written; no file
 * is left. */
bool rewrite_commit(struct rewrite *rewrite);
/* Remove an uncommitted file. Also allowed after rewrite_commit. */
void rewrite_close(struct rewrite *rewrite);

#endif
