/*
 * fit.c: see fit.h. Pure text, any thread.
 */
#include "cli/base/text/fit.h"

#include <string.h>

#define MARK "..."
#define MARK_SIZE (sizeof(MARK) - 1)

/* Whether the byte continues a character. */
static int is_more(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t fit_columns(const char *text)
{
	size_t columns = 0;

	for (; *text != 0; text++)
		columns += !is_more(*text);
	return columns;
}

/* Skips that many characters. */
static const char *skip(const char *text, size_t columns)
{
	for (; *text != 0; text++)
		if (!is_more(*text) && columns-- == 0)
			break;
	return text;
}

void fit_start(struct buffer *out, const char *text, size_t width)
{
	if (fit_columns(text) <= width) {
		buffer_string(out, text);
		return;
	}
	if (width > MARK_SIZE)
		buffer_add(out, text, (size_t)(skip(text, width - MARK_SIZE) -
					       text));
	buffer_string(out, MARK);
}

void fit_middle(struct buffer *out, const char *text, size_t width)
{
	size_t columns = fit_columns(text), head;

	if (columns <= width || width <= MARK_SIZE) {
		fit_start(out, text, width);
		return;
	}
	head = (width - MARK_SIZE) / 2;
	buffer_add(out, text, (size_t)(skip(text, head) - text));
	buffer_string(out, MARK);
	buffer_string(out, skip(text, columns - (width - MARK_SIZE - head)));
}

void fit_path(struct buffer *out, const char *path, size_t width)
{
	size_t columns = fit_columns(path);
	const char *end, *slash;

	if (columns <= width) {
		buffer_string(out, path);
		return;
	}
	buffer_string(out, MARK);
	if (width <= MARK_SIZE)
		return;
	end = skip(path, columns - (width - MARK_SIZE));
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
