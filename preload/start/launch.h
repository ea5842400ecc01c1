/*
 * launch.h: makes the live mapping and starts the recorder of this process, a
 * separate program (cli/recorder/recorder_main.c).
 */
#ifndef GNOMON_LAUNCH_H
#define GNOMON_LAUNCH_H

#include "preload/ring/producer.h"

/*
 * At the first start, before the program's own code has run: copies the
 * environment variables that the recorder needs, and finds its program.
 * library: our path, NULL if unknown.
 */
void launch_environment(char *const *environment, const char *library);

/*
 * Makes the live mapping (p->live, p->shared, p->rings) with a first ring, and
 * starts the recorder, which will read the recorded events there: no thread
 * waits for it. blocks_users: enum blocks_user, from the first event on. quiet:
 * print nothing on failure. 0 or -errno. Called by the thread that starts the
 * recorder, with signals blocked.
 */
int launch_recorder(struct producer *p, uint32_t blocks_users, bool quiet);

/* At the end of the program: waits briefly for the recorder's message about the
 * allocator, while the terminal can still show it. */
void launch_wait_exec(struct producer *p);

#endif
