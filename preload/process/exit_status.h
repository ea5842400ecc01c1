/*
 * exit_status.h: exit statuses, as reported by the process itself when it
 * exits, and by its parent when it waits for it. The recorder uses them if the
 * kernel no longer has the status (target.h).
 */
#ifndef GNOMON_EXIT_STATUS_H
#define GNOMON_EXIT_STATUS_H

#include <stdint.h>

/*
 * The calling process is about to end with this status, and no more code of the
 * program runs. Any thread; also in a child that shares its parent's memory
 * (vfork), which is not recorded: there it has no effect. Keeps errno.
 */
void exit_status_own(int status);

/* wait or a related function returned this status to the calling process: any
 * status, of any child. Any thread, signal handlers; keeps errno. */
void exit_status_reaped(int pid, int status);

/* A process starts to be recorded, with this id. Returns the counter of its
 * slot in its parent's table, as it was at the fork. */
uint32_t exit_status_start(int pid);

#endif
