/*
 * exit_status.h: how a process ended, as those say who are there when it does: the
 * process itself, as it exits, and its parent, as it waits for it. Its writer
 * asks for that where the kernel does not tell any more (target.h).
 */
#ifndef GNOMON_EXIT_STATUS_H
#define GNOMON_EXIT_STATUS_H

#include <stdbool.h>

#include "preload/recorder.h"

/* The writer begins; the process waits for it to. */
void exit_status_begin(struct recorder *r);

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

/*
 * The writer: what the process was told about children that signals ended, who
 * could not note it themselves. at: 0 at first. False: that was all.
 */
bool exit_status_child(const struct recorder *r, unsigned *at, int *pid,
		       int *status);

/*
 * The writer, once the process has ended and the kernel does not say how: the
 * status as waitpid gives it; -1: not known. A parent that may be about to
 * tell is given some time.
 */
int exit_status_find(const struct recorder *r);

#endif
