/*
 * launch.h: making the live mapping and starting the recorder of this process,
 * a program of its own (cli/recorder/recorder_main.c).
 */
#ifndef GNOMON_LAUNCH_H
#define GNOMON_LAUNCH_H

#include "preload/ring/recorder.h"

/*
 * At the first start, before the program's own code has run: copies what the
 * recorder needs of the environment, and finds its program. library: the path
 * of ours, NULL if it is not known.
 */
void launch_environment(char *const *environment, const char *library);

/*
 * Makes the live mapping (r->live, r->shared, r->rings) with a first ring, and
 * starts the recorder, which takes from there on what is recorded: nobody waits
 * for it. ledger_wants: enum ledger_why, from the first event on. quiet: it is to
 * say nothing should it fail. 0 or -errno. The thread that starts the recorder,
 * with signals held.
 */
int launch_recorder(struct recorder *r, uint32_t ledger_wants, bool quiet);

/* At the end of the program: what is to be said about its allocator is said
 * while there still is somebody to hear it. Waits for a moment at most. */
void launch_hear(struct recorder *r);

#endif
