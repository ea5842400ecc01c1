/*
 * utf8.h: makes any bytes valid UTF-8. Names come from file names, command
 * lines and symbol tables, so they may be any bytes; formats need UTF-8 (RFC
 * 3629).
 */
#ifndef GNOMON_UTF8_H
#define GNOMON_UTF8_H

#include "cli/base/intern.h"
#include "cli/base/text/buffer.h"

/* Bytes of the UTF-8 sequence at `s`, which ends with a NUL; 0 if it is
 * invalid. */
unsigned utf8_length(const char *s);
/* Append a text, with U+FFFD for each byte that is in no valid sequence. */
void utf8_add(struct buffer *out, const char *text);
/* The number in the set of the text made valid like that. */
uint32_t utf8_number(struct intern *set, const char *text);

#endif
