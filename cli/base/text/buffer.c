/*
 * buffer.c: growing text buffers. Not shared between threads.
 */
#include "cli/base/text/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/printable.h"
#include "cli/base/text/utf8.h"
#include "unwind/base/assertion.h"

#ifdef GNOMON_DEBUG_ASSERTS
bool buffer_is_valid(const struct buffer *text)
{
	return text->data == NULL ? text->size == 0 && text->capacity == 0 :
	       text->size < text->capacity && text->data[text->size] == 0;
}
#endif

void buffer_add(struct buffer *text, const char *bytes, size_t size)
{
	if (text->capacity - text->size < size + 1) {
		size_t capacity = text->capacity ? text->capacity : 256;

		while (capacity - text->size < size + 1)
			capacity *= 2;
		text->data = grow_resize(text->data, capacity, 1);
		text->capacity = capacity;
	}
	DEBUG_ASSERT(text->capacity - text->size > size);
	if (size)	/* bytes may be NULL then */
		memcpy(text->data + text->size, bytes, size);
	text->size += size;
	text->data[text->size] = 0;
	DEBUG_ASSERT(buffer_is_valid(text));
}

void buffer_string(struct buffer *text, const char *string)
{
	buffer_add(text, string, strlen(string));
}

void buffer_little(struct buffer *bytes, uint64_t number, unsigned size)
{
	char list[sizeof(number)];

	ASSERT(size <= sizeof(list));
	for (unsigned i = 0; i < size; i++)
		list[i] = (char)(number >> (8 * i));
	buffer_add(bytes, list, size);
}

void buffer_printf(struct buffer *text, const char *format, ...)
{
	va_list args;
	char *piece;
	int n;

	va_start(args, format);
	n = vasprintf(&piece, format, args);
	va_end(args);
	if (n < 0)
		return;
	buffer_add(text, piece, (size_t)n);
	free(piece);
}

void buffer_wrap(struct buffer *text, const char *paragraph, int indent, int width)
{
	const char *p = paragraph;

	assert(width > indent);
	while (*p != 0) {
		size_t room = (size_t)(width - indent), size = strlen(p);

		if (size > room) {
			size = room;
			while (size > 0 && p[size] != ' ')
				size--;
			if (size == 0)	/* one word longer than a line */
				size = strcspn(p, " ");
		}
		buffer_printf(text, "%*s%.*s\n", indent, "", (int)size, p);
		p += size;
		p += strspn(p, " ");
	}
}

void buffer_printable(struct buffer *text)
{
	size_t size = 0;

	for (size_t i = 0; i < text->size;) {
		uint32_t code = 0xfffd;
		size_t n = utf8_decode(text->data + i, text->size - i, &code);

		if (n == 0)
			n = 1;
		if (printable_columns(code) < 0) {
			text->data[size++] = ' ';
		} else {
			memmove(text->data + size, text->data + i, n);
			size += n;
		}
		i += n;
	}
	if (size < text->size)
		text->data[text->size = size] = 0;
	DEBUG_ASSERT(buffer_is_valid(text));
}

void buffer_clear(struct buffer *text)
{
	text->size = 0;
	if (text->data != NULL)
		text->data[0] = 0;
	DEBUG_ASSERT(buffer_is_valid(text));
}

void buffer_free(struct buffer *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}
