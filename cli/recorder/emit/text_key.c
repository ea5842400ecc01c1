/*
 * text_key.c: see the header.
 */
#include "cli/recorder/emit/text_key.h"

#include <string.h>

void text_key_bytes(struct text *text, const char *key, const char *value,
		    size_t n)
{
	text_put(text, key);
	text_char(text, '=');
	for (; n; n--, value++) {
		if (*value == '\n')
			text_put(text, "\\n");
		else if (*value == '\\')
			text_put(text, "\\\\");
		else if (*value == '\0')
			text_put(text, "\\0");
		else
			text_char(text, *value);
	}
	text_char(text, '\n');
}

void text_key(struct text *text, const char *key, const char *value)
{
	text_key_bytes(text, key, value, strlen(value));
}

void text_key_number(struct text *text, const char *key, uint64_t value)
{
	text_put(text, key);
	text_char(text, '=');
	text_number(text, value);
	text_char(text, '\n');
}
