/*
 * exit_status_find.h: exchanges exit statuses between parent and child
 * processes (the recorder's half of preload/process/exit_status.h).
 */
#ifndef GNOMON_EXIT_STATUS_FIND_H
#define GNOMON_EXIT_STATUS_FIND_H

#include <stdbool.h>

#include "cli/recorder/base/recording.h"

/* The recorder has started; the process waits for this. */
void exit_status_begin(struct recording *r);

/*
 * Iterates over children of this process that a signal ended, so that they
 * could not record it themselves. at: 0 at first. False: no more.
 */
bool exit_status_child(const struct recording *r, unsigned *at, int *pid,
		       int *status);

/*
 * For a process that has ended while the kernel does not show how: its status
 * as of waitpid; -1: not known. Waits some time for a parent that may be about
 * to report it.
 */
int exit_status_find(const struct recording *r);

#endif
