/*
 * text_key.c: see the header.
 */
#include "cli/recorder/emit/text_key.h"

#include <stdbool.h>
#include <string.h>

#define TEXT_KEY_DIGITS 20

void text_key_begin(struct text_key *text, struct chunk_out *out)
{
	*text = (struct text_key){ .out = out };
}

void text_key_bytes(struct text_key *text, const char *key, const char *value,
		    size_t n)
{
	char *line = (char *)chunk_payload(text->out) + text->length, *to;

	/* all of it escaped, "=", a line feed */
	if (strlen(key) + 2 * n + 2 > text->out->room - text->length)
		return;
	to = stpcpy(line, key);
	*to++ = '=';
	for (; n; n--, value++) {
		bool escaped = *value == '\n' || *value == '\\' || !*value;

		if (escaped)
			*to++ = '\\';
		*to++ = *value == '\n' ? 'n' : *value ? *value : '0';
	}
	*to++ = '\n';
	text->length += to - line;
}

void text_key_put(struct text_key *text, const char *key, const char *value)
{
	text_key_bytes(text, key, value, strlen(value));
}

void text_key_number(struct text_key *text, const char *key, uint64_t value)
{
	char digits[TEXT_KEY_DIGITS], *first = digits + sizeof(digits);

	/* Each recording has a hundred of these, and each forked child may have
	 * a recording. snprintf takes ten times as long. */
	do {
		*--first = '0' + value % 10;
		value /= 10;
	} while (value);
	text_key_bytes(text, key, first, digits + sizeof(digits) - first);
}

void text_key_write(const struct text_key *text, enum gt_chunk_type type)
{
	chunk_write(text->out, type, chunk_payload(text->out) + text->length,
		    NULL);
}
