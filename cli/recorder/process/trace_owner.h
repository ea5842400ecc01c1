/*
 * trace_owner.h: which process an existing trace belongs to: an ancestor or
 * this one, in this run or an earlier one. The recorder only.
 */
#ifndef GNOMON_TRACE_OWNER_H
#define GNOMON_TRACE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the parent of pid is recorded with this pattern. Then the file name
 * belongs to the parent or its ancestors. */
bool trace_owner_is_child(int pid, const char *pattern);

/* When the process began, in nanoseconds of CLOCK_REALTIME, at most 10 ms
 * too early. 0: not known. */
uint64_t trace_owner_start_ns(int pid);

/* Whether the open file is from before the process pid began. Then it is no
 * trace of this process, of an earlier program in it, or of its children. */
bool trace_owner_is_older(int fd, int pid, uint64_t start_ns);

/* Whether an earlier program of process pid, before an exec, began the
 * trace. */
bool trace_owner_is_own(const char *path, int pid);

#endif
