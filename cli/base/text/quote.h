/*
 * quote.h: quotes words for a shell, so that printed commands can be pasted.
 */
#ifndef GNOMON_QUOTE_H
#define GNOMON_QUOTE_H

#include "cli/base/text/buffer.h"

/* One argument: unchanged if it needs no quotes; else in single quotes; as $'…',
 * which bash, zsh and ksh read, if it has characters that must not be printed
 * (printable.h). */
void quote_word(struct buffer *out, const char *word, size_t size);
/* Arguments that each end with the byte `end`, separated by blanks in the
 * output. The last one may lack its end. */
void quote_list(struct buffer *out, const char *words, size_t size, char end);

#endif
