/*
 * control_text.h: parses requests and formats answers of the control socket
 * (control_format.h). No state; any thread.
 */
#ifndef GNOMON_CONTROL_TEXT_H
#define GNOMON_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/recorder/control.h"
#include "cli/command/control_format.h"

/* Index of the first such character; n: there is none. */
size_t control_text_find(const char *line, size_t n, char c);

/* Turns the request into an error with this message; returns false. */
bool control_text_refuse(struct control_request *request, const char *why);

/* Parses a request without its line feed. False: request->message says what is
 * wrong. */
bool control_text_read(const char *line, size_t n,
		       struct control_request *request);

/* Writes an answer with its line feed; returns its length. */
size_t control_text_answer(char to[CONTROL_ANSWER_MAX],
			   const struct control_request *request, bool on,
			   const char *trace);

#endif
