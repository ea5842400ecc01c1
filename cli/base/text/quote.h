/*
 * quote.h: words as a shell takes them, so that what is printed can be pasted.
 */
#ifndef GNOMON_QUOTE_H
#define GNOMON_QUOTE_H

#include "cli/base/text/buffer.h"

/* One argument: as it is, if no shell makes anything of it; else in single
 * quotes; with control characters as $'…', which bash, zsh and ksh read. */
void quote_word(struct buffer *out, const char *word, size_t size);
/* Arguments that are each ended by a byte `end`, with blanks between. The last
 * one may lack its end. */
void quote_list(struct buffer *out, const char *words, size_t size, char end);

#endif
