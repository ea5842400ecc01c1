/*
 * fit.h: texts that are cut to a number of columns. What was cut has "..."
 * where it was: nothing that is printed may pass for the whole if it is not.
 * Lists that are broken into lines.
 *
 * Texts are UTF-8 or bytes without an encoding; a character is a column, and
 * none is cut in two.
 */
#ifndef GNOMON_FIT_H
#define GNOMON_FIT_H

#include <stddef.h>

#include "cli/base/text/buffer.h"

/* Columns that a text takes. */
size_t fit_columns(const char *text);
/* Its beginning: "the beginn...". */
void fit_start(struct buffer *out, const char *text, size_t width);
/* Its beginning and its end: "libsomethi...x86_64.so". */
void fit_middle(struct buffer *out, const char *text, size_t width);
/* Its end, as what tells paths apart is there: ".../dir/file.c", from a slash
 * on if there is one that fits. */
void fit_path(struct buffer *out, const char *path, size_t width);

/*
 * Pieces that follow each other on lines of at most `width` columns, with
 * `between` before all but the first of a line, which stands behind `indent`
 * blanks; `ending` is at the end of a line that another one follows. What
 * comes first goes where the line is already: `column`. A piece longer than a
 * line has one of its own.
 */
struct fit_lines {
	struct buffer *out;
	const char *between;
	const char *ending;
	size_t indent, width;
	size_t column;		/* where it is */
	size_t pieces;		/* on this line */
};

void fit_piece(struct fit_lines *lines, const char *piece);

#endif
