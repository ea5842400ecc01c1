/*
 * interrupt.h: defers Ctrl-C during work that must be cleaned up before the
 * process ends. The work stops when it sees the flag, and the signal takes
 * effect afterwards.
 *
 *	interrupt_begin();
 *	… work that checks *interrupt_flag() …
 *	interrupt_end();
 *
 * Main thread only. Not nested.
 */
#ifndef GNOMON_INTERRUPT_H
#define GNOMON_INTERRUPT_H

#include <stdatomic.h>

/* From now on SIGINT, SIGTERM and SIGHUP set the flag; ignored signals stay
 * ignored. A second signal ends the process. */
void interrupt_begin(void);
const atomic_bool *interrupt_flag(void);
/* Restores the old actions; raises a signal that came meanwhile. */
void interrupt_end(void);

#endif
