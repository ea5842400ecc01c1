/*
 * process_end.h: the last work of a process: it checks its guarded blocks
 * (guard.h), and briefly waits for the recorder, which takes a last snapshot of
 * the process's memory. That is impossible after the process has ended.
 *
 * Any thread of the target, also signal handlers, and children that share their
 * parent's memory (vfork), for which nothing is done. errno is kept.
 */
#ifndef GNOMON_PROCESS_END_H
#define GNOMON_PROCESS_END_H

#include <stdint.h>

#include "preload/base/base.h"

struct producer;

/* Called first; NULL: none. *steps counts up meanwhile. Set by the
 * constructor. */
extern BASE_HIDDEN void (*process_end_first)(struct producer *p,
					     _Atomic uint32_t *steps);

/* Allocates the state by which threads know that another one is ending the
 * process (area_place). */
void process_end_alloc(void);

/* The calling thread ends the process now. */
void process_end_exit(void);

/*
 * The process is about to execute another program. Pass the result to
 * process_end_failed if exec fails; 0: nothing was done.
 */
uint32_t process_end_exec(void);
void process_end_failed(uint32_t scan);

#endif
