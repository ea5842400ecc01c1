/*
 * tell.h: everything that gnomon says on standard error.
 *
 * A message is one line, "gnomon: what happened: what to do", lower case,
 * without a full stop. Results never go through here: they are for stdout.
 */
#ifndef GNOMON_TELL_H
#define GNOMON_TELL_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/notes.h"
#include "cli/base/status.h"

/* Silence notes (not errors) from now on. */
void tell_set_quiet(bool quiet);
bool tell_is_quiet(void);

/* For grow_on_failure: says so, and ends with the status below. */
void tell_out_of_memory(size_t size);
/* The status where memory, or room for the result, was refused: EXIT_NOTHING if
 * no other is set. */
void tell_set_failure_status(int status);
int tell_failure_status(void);

/* Notes that are told as they come: what commands give to what they call. */
struct notes *tell_notes(void);

/* Something failed. Always printed. */
void tell_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Good to know; -q silences it. */
void tell_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
