/*
 * locate.h: which trace is meant: the newest one here, all in a directory,
 * the one of a process.
 */
#ifndef GNOMON_LOCATE_H
#define GNOMON_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is it the name of an older part of a trace (--limit), or of one that was
 * only begun? They are read where they are named, and not looked for. */
bool locate_is_part(const char *name);

/* Does this regular file begin as a trace does? */
bool locate_is_trace(const char *path);

/* The trace in the directory that was written to last, to be freed; NULL:
 * there is none. Its path begins with the directory, unless that is ".". */
char *locate_newest(const char *directory);

/*
 * All traces in the directory, by name; the caller frees each and the list.
 * -errno if it cannot be listed. More than LOCATE_MAX are not looked for:
 * *more is set then.
 */
#define LOCATE_MAX 65536
int locate_all(const char *directory, char ***paths, size_t *count,
	       bool *more);

/*
 * The trace that is being made of the process, to be freed: what the live
 * file that it has mapped says, or else one in this directory that says so
 * itself. If nothing records the process, the newest one here that was made
 * of a process with this number. NULL, and -errno in *error: -ESRCH if there
 * is no such process either.
 */
char *locate_process(pid_t pid, int *error);

#endif
