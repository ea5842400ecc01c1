/*
 * text.h: text built piece by piece in a buffer of fixed size, without a C
 * library. Text that does not fit is cut; the text always ends with a NUL. Any
 * thread, also signal handlers.
 */
#ifndef GNOMON_TEXT_H
#define GNOMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	size_t size;		/* of the buffer */
	size_t length;		/* without the NUL */
};

void text_init(struct text *text, char *buffer, size_t size);
void text_char(struct text *text, char c);
void text_put(struct text *text, const char *s);
void text_bytes(struct text *text, const char *s, size_t n);
void text_number(struct text *text, uint64_t value);
void text_hex(struct text *text, uint64_t value, unsigned digits);

/* The last name in a path of n bytes. */
const char *text_base_name(const char *path, size_t n);

/* Appends the text for an errno value, of either sign. */
void text_error(struct text *text, int err);

#endif
