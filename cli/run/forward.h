/*
 * forward.h: forwards signals from `gnomon run` to the program while it runs.
 *
 *	forward_begin ─ fork ─┬─ forward_inherit ─ exec      (program)
 *	                      └─ forward_to ─ forward_wait ─ forward_end
 *
 * A signal sent to the command alone is forwarded. A signal sent to the process
 * group, as by the terminal, has reached the program already. The command stops
 * when the program stops, and continues when either is continued.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_FORWARD_H
#define GNOMON_FORWARD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Blocks signals from now on. False, with errno: failed. */
bool forward_begin(void);

/* In the child: restores signals as they were before forward_begin. */
void forward_inherit(void);

/* Forwards signals to this child, including all received since
 * forward_begin. */
void forward_to(pid_t child);

/* Waits until the child has ended: true, with its status in *end; the child
 * stays a zombie. Or until `fd` is readable or its other end is closed: false.
 * fd -1: none. */
bool forward_wait(int fd, siginfo_t *end);

/* After the program's end: SIGINT, SIGQUIT, SIGTERM and SIGHUP call
 * `interrupt`, stop signals stop this process, other signals are ignored. */
void forward_end(void (*interrupt)(int number));

#endif
