/*
 * exit_status.h: how a process ended, as those say who are there when it does: the
 * process itself, as it exits, and its parent, as it waits for it. Its writer
 * asks for that where the kernel does not tell any more (target.h).
 */
#ifndef GNOMON_EXIT_STATUS_H
#define GNOMON_EXIT_STATUS_H

#include <stdint.h>

/*
 * The calling process is about to end with this status, and no code of the
 * program runs any more. Any thread, also in a child that shares its parent's
 * memory (vfork), which is not recorded: then it counts for nothing. Keeps
 * errno.
 */
void exit_status_own(int status);

/* The calling process was told this by wait or one of its kind: any status, of
 * any child. Any thread, signal handlers; keeps errno. */
void exit_status_reaped(int pid, int status);

/* A process starts to be recorded, under this id: the count that its own place at
 * its parent's had when it was forked. */
uint32_t exit_status_start(int pid);

#endif
