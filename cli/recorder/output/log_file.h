/*
 * log_file.h: the recorder's log of its own work (--log, --log-file). The
 * recorder only; without --log nothing is opened.
 */
#ifndef GNOMON_LOG_FILE_H
#define GNOMON_LOG_FILE_H

#include <stdint.h>

#include "cli/command/options_check.h"

/* Levels are the words of the option: OPTION_LOG_*. */

/* At the start of a recording. -errno: the file cannot be opened, and lines go
 * to standard error. */
long log_file_begin(int pid);

/* Sets a live thread of the target, through which to open its standard
 * error. */
void log_file_thread(int tid);

/* "TIME PID LEVEL what: detail"; detail may be NULL. */
void log_file_print(unsigned level, const char *what, const char *detail);

/* The same with a number. */
void log_file_number(unsigned level, const char *what, uint64_t number);

/* Logs a line and always prints it on standard error. */
void log_file_report(unsigned level, const char *text);

#endif
