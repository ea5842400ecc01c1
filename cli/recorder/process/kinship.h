/*
 * kinship.h: what a process that comes to write a trace has to do with those
 * that wrote before it. The writer only.
 */
#ifndef GNOMON_KINSHIP_H
#define GNOMON_KINSHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the parent of pid was started to be recorded under this pattern:
 * then the name belongs to it or to its own ancestors. */
bool kinship_is_child(int pid, const char *pattern);

/* When the process began, in nanoseconds of CLOCK_REALTIME, at most 10 ms
 * too early. 0: not known. */
uint64_t kinship_start_ns(int pid);

/* Whether what this descriptor reads was there before the process pid began:
 * no trace of its own, of an earlier program in it, or of its children. */
bool kinship_is_older(int fd, int pid, uint64_t start_ns);

/* Whether the trace was begun by the program that pid was before an exec. */
bool kinship_is_own(const char *path, int pid);

#endif
