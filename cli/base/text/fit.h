/*
 * fit.h: cuts texts to a number of columns, and breaks lists into lines. "..."
 * marks each cut: no shortened text may pass for a whole one.
 *
 * Texts are UTF-8 or bytes without an encoding. Characters are as wide as
 * printable.h says, and are never cut in two.
 */
#ifndef GNOMON_FIT_H
#define GNOMON_FIT_H

#include <stddef.h>

#include "cli/base/text/buffer.h"

/* Columns of a text. */
size_t fit_columns(const char *text);
/* Keeps the beginning: "the beginn...". */
void fit_start(struct buffer *out, const char *text, size_t width);
/* Keeps the beginning and the end: "libsomethi...x86_64.so". */
void fit_middle(struct buffer *out, const char *text, size_t width);
/* Keeps the end, which distinguishes paths: ".../dir/file.c", from a slash on
 * if one fits. */
void fit_path(struct buffer *out, const char *path, size_t width);

/*
 * Pieces that are put on lines of at most `width` columns. `between` separates
 * pieces on a line, `indent` blanks begin a new line, and `ending` ends a line
 * before another one. The first line starts at `column`. A piece longer than a
 * line gets its own line.
 */
struct fit_lines {
	struct buffer *out;
	const char *between;
	const char *ending;
	size_t indent, width;
	size_t column;		/* current column */
	size_t pieces;		/* on this line */
};

void fit_piece(struct fit_lines *lines, const char *piece);

#endif
