/*
 * fit.c: see fit.h. Pure text, any thread.
 */
#include "cli/base/text/fit.h"

#include <string.h>

#include "cli/base/text/printable.h"
#include "cli/base/text/utf8.h"

#define MARK "..."
#define MARK_SIZE (sizeof(MARK) - 1)

/* Bytes and columns of the character at the start of a text. What must not be
 * printed, and bytes that are no UTF-8, are replaced by one column. */
static size_t measure(const char *text, size_t *columns)
{
	uint32_t code = 0xfffd;
	size_t bytes = utf8_decode(text, UTF8_BYTES_MAX, &code);
	int width = printable_columns(code);

	*columns = width < 0 ? 1 : (size_t)width;
	return bytes ? bytes : 1;
}

size_t fit_columns(const char *text)
{
	size_t sum = 0, columns;

	for (; *text != 0; sum += columns)
		text += measure(text, &columns);
	return sum;
}

/* The end of the longest beginning of at most so many columns. */
static const char *end_of_head(const char *text, size_t width)
{
	while (*text != 0) {
		size_t columns, bytes = measure(text, &columns);

		if (columns > width)
			break;
		width -= columns;
		text += bytes;
	}
	return text;
}

/* The start of the longest end of at most so many columns. */
static const char *start_of_tail(const char *text, size_t width)
{
	size_t left = fit_columns(text), columns, bytes;

	while (*text != 0) {
		bytes = measure(text, &columns);
		/* a mark that joins a character is removed with it */
		if (left <= width && columns > 0)
			break;
		left -= columns;
		text += bytes;
	}
	return text;
}

void fit_start(struct buffer *out, const char *text, size_t width)
{
	if (fit_columns(text) <= width) {
		buffer_string(out, text);
		return;
	}
	if (width > MARK_SIZE)
		buffer_add(out, text, (size_t)(end_of_head(text, width -
							   MARK_SIZE) - text));
	buffer_string(out, MARK);
}

void fit_middle(struct buffer *out, const char *text, size_t width)
{
	size_t head;

	if (fit_columns(text) <= width || width <= MARK_SIZE) {
		fit_start(out, text, width);
		return;
	}
	head = (width - MARK_SIZE) / 2;
	buffer_add(out, text, (size_t)(end_of_head(text, head) - text));
	buffer_string(out, MARK);
	buffer_string(out, start_of_tail(text, width - MARK_SIZE - head));
}

void fit_path(struct buffer *out, const char *path, size_t width)
{
	const char *end, *slash;

	if (fit_columns(path) <= width) {
		buffer_string(out, path);
		return;
	}
	buffer_string(out, MARK);
	if (width <= MARK_SIZE)
		return;
	end = start_of_tail(path, width - MARK_SIZE);
	slash = strchr(end, '/');
	buffer_string(out, slash != NULL && slash[1] != 0 ? slash : end);
}

void fit_piece(struct fit_lines *lines, const char *piece)
{
	size_t columns = fit_columns(piece);
	size_t between = lines->pieces > 0 ? fit_columns(lines->between) : 0;

	if (lines->pieces > 0 && lines->column + between + columns +
	    fit_columns(lines->ending) > lines->width) {
		buffer_printf(lines->out, "%s\n%*s", lines->ending,
			      (int)lines->indent, "");
		lines->column = lines->indent;
		lines->pieces = 0;
		between = 0;
	}
	buffer_printf(lines->out, "%s%s", between ? lines->between : "",
		      piece);
	lines->column += between + columns;
	lines->pieces++;
}
