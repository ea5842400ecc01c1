/*
 * log.h: logs messages for users on standard error.
 *
 * A message is one line, "gnomon: what happened: what to do", lower case,
 * without a full stop. Results go to stdout, never through here.
 */
#ifndef GNOMON_LOG_H
#define GNOMON_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/notes.h"
#include "cli/base/status.h"

/* Silence notes (not errors) from now on. */
void log_set_quiet(bool quiet);
bool log_is_quiet(void);

/* For grow_on_failure: reports it, and exits with the status below. */
void log_out_of_memory(size_t size);
/* The exit status if memory, or space for the result, runs out: EXIT_NOTHING by
 * default. */
void log_set_failure_status(int status);
int log_failure_status(void);

/* Notes that are printed at once; commands pass this to the code they call. */
struct notes *log_notes(void);

/* Something failed. Always printed. */
void log_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* A note; -q silences it. */
void log_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
