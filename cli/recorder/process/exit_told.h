/*
 * exit_told.h: the recorder's half of preload/process/exit_status.h.
 */
#ifndef GNOMON_EXIT_TOLD_H
#define GNOMON_EXIT_TOLD_H

#include <stdbool.h>

#include "cli/recorder/base/recording.h"

/* It begins; the process waits for it to. */
void exit_status_begin(struct recording *r);

/*
 * What the process was told about children that signals ended, who
 * could not note it themselves. at: 0 at first. False: that was all.
 */
bool exit_status_child(const struct recording *r, unsigned *at, int *pid,
		       int *status);

/*
 * Once the process has ended and the kernel does not say how: the
 * status as waitpid gives it; -1: not known. A parent that may be about to
 * tell is given some time.
 */
int exit_status_find(const struct recording *r);

#endif
