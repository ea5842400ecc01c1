/*
 * utf8.h: names come from file names, command lines and symbol tables, so they
 * may be any bytes; formats want UTF-8 (RFC 3629).
 */
#ifndef GNOMON_UTF8_H
#define GNOMON_UTF8_H

#include "cli/base/intern.h"
#include "cli/base/text/buffer.h"

/* Bytes of the sequence at `s`, which ends with a NUL; 0 if it is none. */
unsigned utf8_length(const char *s);
/* Append a text, each byte that is in no sequence as U+FFFD. */
void utf8_add(struct buffer *out, const char *text);
/* The number of what that makes of a text among those of the set. */
uint32_t utf8_number(struct intern *set, const char *text);

#endif
