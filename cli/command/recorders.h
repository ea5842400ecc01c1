/*
 * recorders.h: finds the recorders running on this machine.
 */
#ifndef GNOMON_RECORDERS_H
#define GNOMON_RECORDERS_H

#include <stdbool.h>
#include <sys/types.h>

/* The recorder that records this process, or still writes its trace; 0 if there
 * is none. */
pid_t recorders_find(pid_t pid);

/* Waits for its end, at most this long. False: the kernel has no pidfd_open. */
bool recorders_await(pid_t recorder, unsigned max_us);

/* The target of this recorder, by its pid in its own namespace; 0: it is no
 * recorder. */
pid_t recorders_whom(pid_t pid);

#endif
