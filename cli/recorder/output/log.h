/*
 * log.h: what the recorder does, for who looks after it: --log, --log-file.
 * The writer only; without --log nothing is opened.
 */
#ifndef GNOMON_LOG_H
#define GNOMON_LOG_H

#include <stdint.h>

#include "cli/command/options_agree.h"

/* Levels are the words of the option: OPTION_LOG_*. */

/* At the begin of a recording. -errno: the file cannot be opened, and lines go
 * to standard error. */
long log_begin(int pid);

/* The target's standard error, for lines that go there: by the id of a thread
 * of it that lives. */
void log_thread(int tid);

/* "TIME PID LEVEL what: detail"; detail may be NULL. */
void log_say(unsigned level, const char *what, const char *detail);

/* The same with a number. */
void log_number(unsigned level, const char *what, uint64_t number);

/* A line that the user gets on standard error in any case. */
void log_tell(unsigned level, const char *text);

#endif
