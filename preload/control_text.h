/*
 * control_text.h: what goes over the control socket, for the library and the
 * command. Its name is abstract: CONTROL_TEXT_NAME, the process's id as it
 * knows itself, a dot, field 22 of its /proc/PID/stat (0 where it has none).
 *
 *	request  a line: a word, and perhaps a blank and a name
 *	answer   a line of fields between tabs:
 *	  state    ok; no (it is so already); error
 *	  on       1: is being recorded now; 0
 *	  name     that a snapshot got
 *	  trace    where it is written
 *	  message  what is wrong, to be read behind the process's id
 *
 * No control characters are in it but those. A connection may ask several
 * times, one after the other.
 *
 * No state; any thread.
 */
#ifndef GNOMON_CONTROL_TEXT_H
#define GNOMON_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/control.h"

#define CONTROL_TEXT_NAME "gnomon."
#define CONTROL_TEXT_NAME_MAX 64
#define CONTROL_TEXT_REQUEST (GT_NAME_MAX + 32)
#define CONTROL_TEXT_ANSWER (GT_PATH_MAX + GT_NAME_MAX + 512)
#define CONTROL_TEXT_FIELDS 5

/* Where this character is; n: nowhere. */
size_t control_text_find(const char *line, size_t n, char c);

/* Reads a request without its line feed. False: request->message says what is
 * wrong with it. */
bool control_text_read(const char *line, size_t n,
		       struct control_request *request);

/* Writes an answer with its line feed; returns its length. */
size_t control_text_answer(char to[CONTROL_TEXT_ANSWER],
			   const struct control_request *request, bool on,
			   const char *trace);

#endif
