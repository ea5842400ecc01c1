/*
 * buffer.h: a growing text buffer.
 */
#ifndef GNOMON_BUFFER_H
#define GNOMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *data;		/* NUL-terminated once something was added */
	size_t size;		/* without the NUL */
	size_t capacity;
};

/* A buffer that is freed at the end of the enclosing block, however that is
 * left: `LOCAL_BUFFER name = { 0 };`. */
#define LOCAL_BUFFER __attribute__((cleanup(buffer_free))) struct buffer

void buffer_add(struct buffer *text, const char *bytes, size_t size);
void buffer_string(struct buffer *text, const char *string);
/* Adds the low `size` bytes (at most 8) of the number, lowest first. */
void buffer_little(struct buffer *bytes, uint64_t number, unsigned size);
void buffer_printf(struct buffer *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds `paragraph`, broken at `width` columns, each line indented. */
void buffer_wrap(struct buffer *text, const char *paragraph, int indent,
	       int width);
/* Replaces characters that must not be printed (printable.h) by blanks. Bytes
 * that are no UTF-8 stay. */
void buffer_printable(struct buffer *text);
void buffer_clear(struct buffer *text);	/* keeps the memory */
void buffer_free(struct buffer *text);
/* The text; "" if nothing was added. */
static inline const char *buffer_text(const struct buffer *text)
{
	return text->data ? text->data : "";
}

/* Checks sizes and the NUL. With GNOMON_DEBUG_ASSERTS. */
bool buffer_is_valid(const struct buffer *text);

#endif
