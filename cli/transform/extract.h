/*
 * extract.h: write embedded files below a directory, and nowhere else, whatever
 * they are called.
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
	struct intern paths;	/* of the files of this run, to keep apart */
};

/* False: the directory cannot be made or opened, and that was said. */
bool extract_open(struct extract *extract, const char *directory, bool force,
		  uint64_t max);
/* Where the file was written, below the directory, to be freed; NULL: it was
 * not, and that was said. Nothing is left of it then. */
char *extract_file(struct extract *extract, const struct embedded *list,
		   size_t index, const char *trace, uint64_t trace_id);
void extract_close(struct extract *extract);

/* For tests: the names of the directories and the file that a recorded path
 * becomes, separated by '/'. */
void extract_path(struct buffer *out, const char *path, const char *suffix);

#endif
