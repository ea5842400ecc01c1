/*
 * extract.h: writes embedded files below a directory, and never outside it,
 * whatever their recorded paths.
 */
#ifndef GNOMON_EXTRACT_H
#define GNOMON_EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/text/buffer.h"
#include "cli/trace/read/embedded.h"

struct extract {
	const char *directory;
	int root;		/* its descriptor */
	bool force;
	uint64_t left;		/* bytes that may still be written */
	struct intern paths;	/* written in this run, to avoid collisions */
};

/* False, with a message: the directory cannot be made or opened. */
bool extract_open(struct extract *extract, const char *directory, bool force,
		  uint64_t max);
/* Where the file was written, relative to the directory; the caller frees it.
 * NULL, with a message: it was not written, and no file is left. */
char *extract_file(struct extract *extract, const struct embedded *list,
		   size_t index, const char *trace, uint64_t trace_id);
void extract_close(struct extract *extract);

/* For tests: the components that a recorded path becomes, separated by '/'. */
void extract_path(struct buffer *out, const char *path, const char *suffix);

#endif
