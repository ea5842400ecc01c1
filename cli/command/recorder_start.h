/*
 * recorder_start.h: waits for a recorder that is starting. A program does not
 * wait for its recorder, so a command sent right after the program's start must
 * wait.
 */
#ifndef GNOMON_RECORDER_START_H
#define GNOMON_RECORDER_START_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Pauses for some milliseconds, adds them to *waited_us (0 at first) and
 * returns true: the caller tries again. Returns false at once if no sign shows
 * that a recorder of this process is starting, or if the wait was long enough.
 */
bool recorder_start_pause(pid_t pid, unsigned *waited_us);

#endif
