/*
 * embed_glob.h: which files there are with a path like a pattern (--include).
 * The writer only.
 */
#ifndef GNOMON_EMBED_GLOB_H
#define GNOMON_EMBED_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define EMBED_GLOB_BYTES 32768	/* of all paths that are found */
#define EMBED_GLOB_LOOKS 20000	/* names of directories that are looked at */

struct embed_glob {
	char path[GT_PATH_MAX];
	uint32_t looks;
	bool full;		/* a limit was met: there may be more */
	uint32_t used;
	char found[EMBED_GLOB_BYTES];	/* absolute paths, each with its NUL */
};

/*
 * All that there is for patterns separated by commas, into glob->found. *, ?
 * and [a-z] stand for what they do in a shell: not for a slash, nor for a dot
 * in front. Relative ones are relative to the working directory. What a path
 * leads to is not looked at.
 */
void embed_glob_all(struct embed_glob *glob, const char *patterns);

/* Whether a name is like a pattern up to its first slash or comma. */
bool embed_glob_fits(const char *pattern, const char *name);

#endif
