/*
 * interrupt.h: Ctrl-C while something is under way that has to be put in order
 * before we end: it is asked to stop, and the signal is given its way
 * afterwards.
 *
 *	interrupt_begin();
 *	… which looks at *interrupt_flag() …
 *	interrupt_end();
 *
 * The main thread. Not nested.
 */
#ifndef GNOMON_INTERRUPT_H
#define GNOMON_INTERRUPT_H

#include <stdatomic.h>

/* From now on SIGINT, SIGTERM and SIGHUP set the flag; those that are ignored
 * stay so. A second one ends the process. */
void interrupt_begin(void);
const atomic_bool *interrupt_flag(void);
/* As it was; a signal that has come meanwhile does what it would have done. */
void interrupt_end(void);

#endif
