/*
 * coming.h: a recorder that is about to be there. A program does not wait for
 * its recorder: who asks for one right after the program's start has to.
 */
#ifndef GNOMON_COMING_H
#define GNOMON_COMING_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Pauses for some milliseconds, which are added to *waited_us, 0 at first: then
 * the caller looks again. False at once: there is no sign that a recorder of
 * this process is to come, or it was waited for long enough.
 */
bool coming_pause(pid_t pid, unsigned *waited_us);

#endif
