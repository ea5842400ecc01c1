/*
 * ending.h: what a process does last: it looks at its guarded blocks
 * (guard.h), and waits a moment for the writer, which takes a last look at
 * its memory. Once it has ended nobody can.
 *
 * Any thread of the target, also signal handlers, and children that share their
 * parent's memory (vfork), for whom nothing is done. errno is kept.
 */
#ifndef GNOMON_ENDING_H
#define GNOMON_ENDING_H

#include <stdint.h>

#include "preload/base/base.h"

struct recorder;

/* What is done before all else; NULL: nothing. *steps goes up meanwhile. Set by
 * the constructor. */
extern BASE_HIDDEN void (*ending_first)(struct recorder *r,
					_Atomic uint32_t *steps);

/* Gives what threads know of each other's ends its place (area_place). */
void ending_place(void);

/* The process ends now, by the calling thread. */
void ending_exit(void);

/*
 * The process is about to be another program. The result is for ending_failed,
 * if it goes on after all; 0: nothing was done.
 */
uint32_t ending_exec(void);
void ending_failed(uint32_t look);

#endif
