/*
 * control_signal.h: signals that ask something of the recording (--signal).
 */
#ifndef GNOMON_CONTROL_SIGNAL_H
#define GNOMON_CONTROL_SIGNAL_H

/* Handles those of the options for which the program has no handler. Once, by
 * the constructor. */
void control_signal_install(void);

#endif
