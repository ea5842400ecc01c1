/*
 * control_signal.h: handlers of the signals that control the recording
 * (--signal).
 */
#ifndef GNOMON_CONTROL_SIGNAL_H
#define GNOMON_CONTROL_SIGNAL_H

/* Installs handlers for the signals of the options, except where the program
 * has its own. Once, by the constructor. */
void control_signal_install(void);

#endif
