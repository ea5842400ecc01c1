/*
 * forward.h: between the start of a program and its end, the signals that
 * `gnomon run` is sent are the program's.
 *
 *	forward_begin ─ fork ─┬─ forward_inherit ─ exec      (program)
 *	                      └─ forward_to ─ forward_wait ─ forward_end
 *
 * What was sent to the command alone is sent on; what was sent to the process
 * group, as by the terminal, has reached the program already. The command
 * stops when the program stops, and goes on when either is continued.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_FORWARD_H
#define GNOMON_FORWARD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* From now on signals wait. False, with errno: it cannot be done. */
bool forward_begin(void);

/* In the child: signals are as they were before forward_begin. */
void forward_inherit(void);

/* They are this child's, with all that have come since forward_begin. */
void forward_to(pid_t child);

/* Waits until the child has ended, which stays a zombie: true, and how in
 * *end. Or until `fd` can be read, or its other end is closed: false. -1:
 * there is none. */
bool forward_wait(int fd, siginfo_t *end);

/* No program any more: SIGINT, SIGQUIT, SIGTERM and SIGHUP call `interrupt`,
 * those that stop a process stop this one, others are ignored. */
void forward_end(void (*interrupt)(int number));

#endif
