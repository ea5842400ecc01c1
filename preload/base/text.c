/*
 * text.c: text built in a buffer. See the header.
 *
 * I1: length < size, and data[length] is NUL.
 */
#include "preload/base/text.h"

#include <string.h>

#include "preload/base/error_words.h"
#include "unwind/base/assertion.h"

void text_init(struct text *text, char *buffer, size_t size)
{
	DEBUG_ASSERT(size > 0);
	text->data = buffer;
	text->size = size;
	text->length = 0;
	buffer[0] = '\0';
}

void text_char(struct text *text, char c)
{
	DEBUG_ASSERT(text->length < text->size); /* I1 */
	if (text->length + 1 >= text->size)
		return;
	text->data[text->length++] = c;
	text->data[text->length] = '\0';
}

void text_bytes(struct text *text, const char *s, size_t n)
{
	for (; n; n--)
		text_char(text, *s++);
}

void text_put(struct text *text, const char *s)
{
	text_bytes(text, s, strlen(s));
}

void text_number(struct text *text, uint64_t value)
{
	char digits[20];
	unsigned n = 0;

	do {
		digits[n++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (n)
		text_char(text, digits[--n]);
}

void text_hex(struct text *text, uint64_t value, unsigned digits)
{
	DEBUG_ASSERT(digits <= 16);
	while (digits--)
		text_char(text, "0123456789abcdef"[value >> (4 * digits) & 15]);
}

const char *text_base_name(const char *path, size_t n)
{
	const char *name = path;
	size_t i;

	for (i = 0; i < n; i++)
		if (path[i] == '/')
			name = path + i + 1;
	return name;
}

void text_error(struct text *text, int err)
{
	const char *words = error_words(err);

	if (words) {
		text_put(text, words);
		return;
	}
	text_put(text, "error ");
	text_number(text, err < 0 ? -err : err);
}
