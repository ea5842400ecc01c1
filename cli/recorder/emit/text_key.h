/*
 * text_key.h: lines of the chunks INFO, COUNTERS and END.
 */
#ifndef GNOMON_TEXT_KEY_H
#define GNOMON_TEXT_KEY_H

#include "preload/base/text.h"

/* A line "key=value\n"; \n and \\ in the value are escaped, as in the INFO,
 * COUNTERS and END chunks; NULs of a byte string become \0. */
void text_key(struct text *text, const char *key, const char *value);
void text_key_bytes(struct text *text, const char *key, const char *value,
		    size_t n);
void text_key_number(struct text *text, const char *key, uint64_t value);

#endif
