/*
 * signals.h: signals that ask something of the recording (--signal).
 */
#ifndef GNOMON_SIGNALS_H
#define GNOMON_SIGNALS_H

/* Handles those of the options for which the program has no handler. Once, by
 * the constructor. */
void signals_install(void);

#endif
