/*
 * quote.c: see quote.h. Pure text, any thread.
 */
#include "cli/base/text/quote.h"

#include <stdbool.h>
#include <string.h>

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

/* Whether the byte has no meaning to a shell anywhere in a word. Bytes beyond
 * ASCII are parts of characters. */
static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
		(byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80 ||
		(byte != 0 && strchr("_-./:,=+@%^", byte) != NULL);
}

static void quote_controls(struct buffer *out, const char *word, size_t size)
{
	buffer_string(out, "$'");
	for (size_t i = 0; i < size; i++)
		if (word[i] == '\n')
			buffer_string(out, "\\n");
		else if (word[i] == '\t')
			buffer_string(out, "\\t");
		else if (is_control(word[i]))
			buffer_printf(out, "\\%03o", (unsigned char)word[i]);
		else if (word[i] == '\'' || word[i] == '\\')
			buffer_printf(out, "\\%c", word[i]);
		else
			buffer_add(out, &word[i], 1);
	buffer_string(out, "'");
}

void quote_word(struct buffer *out, const char *word, size_t size)
{
	bool plain = size > 0, controls = false;

	for (size_t i = 0; i < size; i++) {
		plain &= is_plain(word[i]);
		controls |= is_control(word[i]);
	}
	if (plain) {
		buffer_add(out, word, size);
		return;
	}
	if (controls) {
		quote_controls(out, word, size);
		return;
	}
	buffer_string(out, "'");
	for (size_t i = 0; i < size; i++)
		if (word[i] == '\'')
			buffer_string(out, "'\\''");
		else
			buffer_add(out, &word[i], 1);
	buffer_string(out, "'");
}

void quote_list(struct buffer *out, const char *words, size_t size, char end)
{
	size_t at = 0;

	while (at < size) {
		const char *stop = memchr(words + at, end, size - at);
		size_t length = stop ? (size_t)(stop - words) - at : size - at;

		if (at > 0)
			buffer_string(out, " ");
		quote_word(out, words + at, length);
		at += length + 1;
	}
}
