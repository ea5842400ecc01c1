/*
 * quote.c: see quote.h. Pure text, any thread.
 */
#include "cli/base/text/quote.h"

#include <stdbool.h>
#include <string.h>

#include "cli/base/text/printable.h"
#include "cli/base/text/utf8.h"

/* Bytes of the character at the start, and whether it may be printed. Bytes
 * that are no UTF-8 may. */
static size_t next_character(const char *word, size_t size, bool *printable)
{
	uint32_t code = 0xfffd;
	size_t n = utf8_decode(word, size, &code);

	*printable = printable_columns(code) >= 0;
	return n ? n : 1;
}

/* Whether the byte has no meaning to a shell anywhere in a word. Bytes beyond
 * ASCII are parts of characters. */
static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
		(byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80 ||
		(byte != 0 && strchr("_-./:,=+@%^", byte) != NULL);
}

static void quote_escaped(struct buffer *out, const char *word, size_t size)
{
	bool printable;

	buffer_string(out, "$'");
	for (size_t i = 0, n; i < size; i += n) {
		n = next_character(word + i, size - i, &printable);
		if (word[i] == '\n')
			buffer_string(out, "\\n");
		else if (word[i] == '\t')
			buffer_string(out, "\\t");
		else if (!printable)
			for (size_t k = i; k < i + n; k++)
				buffer_printf(out, "\\%03o",
					      (unsigned char)word[k]);
		else if (word[i] == '\'' || word[i] == '\\')
			buffer_printf(out, "\\%c", word[i]);
		else
			buffer_add(out, &word[i], n);
	}
	buffer_string(out, "'");
}

void quote_word(struct buffer *out, const char *word, size_t size)
{
	bool plain = size > 0, escapes = false, printable;

	for (size_t i = 0; i < size; i++)
		plain &= is_plain(word[i]);
	for (size_t i = 0; i < size && !escapes;) {
		i += next_character(word + i, size - i, &printable);
		escapes = !printable;
	}
	if (escapes) {
		quote_escaped(out, word, size);
		return;
	}
	if (plain) {
		buffer_add(out, word, size);
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
