/*
 * recorders.h: the recorders that are at work on this machine.
 */
#ifndef GNOMON_RECORDERS_H
#define GNOMON_RECORDERS_H

#include <stdbool.h>
#include <sys/types.h>

/* One that records, or goes on to write the trace of, this process; 0: there is
 * none. */
pid_t recorders_find(pid_t pid);

/* Waits for its end, so long at most. False: the kernel has no way to do so. */
bool recorders_await(pid_t recorder, unsigned most_us);

/* Whom this process records, by the id that that one has for itself; 0: it is
 * no recorder. */
pid_t recorders_whom(pid_t pid);

#endif
