/*
 * embed_glob.h: finds the files that match path patterns (--include). The
 * recorder only.
 */
#ifndef GNOMON_EMBED_GLOB_H
#define GNOMON_EMBED_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define EMBED_GLOB_BYTES 32768	/* of all paths found */
#define EMBED_GLOB_LOOKS 20000	/* directory entries read at most */

struct embed_glob {
	char path[GT_PATH_MAX];
	uint32_t looks;
	bool full;		/* a limit was reached: there may be more */
	uint32_t used;
	char found[EMBED_GLOB_BYTES];	/* absolute paths, each with its NUL */
};

/*
 * Puts all matches of patterns separated by commas into glob->found. *, ? and
 * [a-z] match as in a shell: never a slash or a leading dot. Relative patterns
 * are relative to the working directory. Matches may be of any file type.
 */
void embed_glob_all(struct embed_glob *glob, const char *patterns);

/* Whether a name matches a pattern up to the pattern's first slash or comma. */
bool embed_glob_matches(const char *pattern, const char *name);

#endif
