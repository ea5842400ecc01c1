/*
 * buffer.h: a growing text, printed into piece by piece.
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

/* One that is freed at the end of the block of code that declares it, however
 * that is left: `LOCAL_BUFFER name = { 0 };`. */
#define LOCAL_BUFFER __attribute__((cleanup(buffer_free))) struct buffer

void buffer_add(struct buffer *text, const char *bytes, size_t size);
void buffer_string(struct buffer *text, const char *string);
/* The low `size` bytes of it, at most 8, the lowest first. */
void buffer_little(struct buffer *bytes, uint64_t number, unsigned size);
void buffer_printf(struct buffer *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* `paragraph` broken at `width` columns, each line indented. */
void buffer_wrap(struct buffer *text, const char *paragraph, int indent,
	       int width);
/* Control characters, which a terminal would obey, become blanks. */
void buffer_printable(struct buffer *text);
void buffer_clear(struct buffer *text);	/* keeps the memory */
void buffer_free(struct buffer *text);
/* As a text: "" while nothing was added. */
static inline const char *buffer_text(const struct buffer *text)
{
	return text->data ? text->data : "";
}

/* Sizes, and the NUL. With GNOMON_CLAIMS. */
bool buffer_is_valid(const struct buffer *text);

#endif
