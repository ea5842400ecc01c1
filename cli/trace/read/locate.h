/*
 * locate.h: finds the trace that the user means: the newest one here, all in a
 * directory, or that of a process.
 */
#ifndef GNOMON_LOCATE_H
#define GNOMON_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is this the name of an older part of a trace (--limit), or of a trace that
 * was only begun? Such files are read when named, but never searched for. */
bool locate_is_part(const char *name);

/* Does this regular file begin with a trace header? */
bool locate_is_trace(const char *path);

/* The trace in the directory that was written last; the caller frees it. NULL:
 * there is none. The path begins with the directory, unless that is ".". */
char *locate_newest(const char *directory);

/*
 * All traces in the directory, by name; the caller frees each and the list.
 * -errno if the directory cannot be listed. The search stops at LOCATE_MAX
 * traces and sets *more.
 */
#define LOCATE_MAX 65536
int locate_all(const char *directory, char ***paths, size_t *count,
	       bool *more);

/*
 * The trace that is being recorded of the process; the caller frees it. The
 * live file that the process has mapped names it; else a trace in this
 * directory says so itself. If the process is not recorded: the newest trace
 * here of a process with this number. NULL: see *error; -ESRCH if there is no
 * such process either.
 */
char *locate_process(pid_t pid, int *error);

#endif
