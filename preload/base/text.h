/*
 * text.h: text built piece by piece in a buffer of fixed size. What does not
 * fit is left out, and `full` says so; the text always ends with a NUL.
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_TEXT_H
#define GNOMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	size_t size;		/* of the buffer */
	size_t length;		/* without the NUL */
	bool full;
};

void text_init(struct text *text, char *buffer, size_t size);
void text_char(struct text *text, char c);
void text_put(struct text *text, const char *s);
void text_bytes(struct text *text, const char *s, size_t n);
void text_number(struct text *text, uint64_t value);
void text_hex(struct text *text, uint64_t value, unsigned digits);

/* The words for an errno value, of either sign. */
void text_error(struct text *text, int err);

/* "what: path: error" into a buffer; path may be NULL. */
void text_message(char *buffer, size_t size, const char *what,
		  const char *path, int err);

#endif
