/*
 * utf8.h: makes any bytes valid UTF-8. Names come from file names, command
 * lines and symbol tables, so they may be any bytes; formats need UTF-8 (RFC
 * 3629).
 */
#ifndef GNOMON_UTF8_H
#define GNOMON_UTF8_H

#include "cli/base/intern.h"
#include "cli/base/text/buffer.h"

#define UTF8_BYTES_MAX 4	/* of a sequence */

/* Bytes of the UTF-8 sequence at the start of a text of `size` bytes, and its
 * code point; 0 if it is invalid, or the text is empty: *code is unchanged. */
unsigned utf8_decode(const char *text, size_t size, uint32_t *code);
/* The same for a text that ends with a NUL; 1 at its end. */
unsigned utf8_length(const char *text);
/* Append a text, with U+FFFD for each byte that is in no valid sequence. */
void utf8_add(struct buffer *out, const char *text);
/* The number in the set of the text made valid like that. */
uint32_t utf8_number(struct intern *set, const char *text);

#endif
