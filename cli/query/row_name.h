/*
 * row_name.h: names a row in a few words, for legends and columns without space
 * for stacks.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_ROW_NAME_H
#define GNOMON_QUERY_ROW_NAME_H

#include "cli/query/rows.h"

/*
 * Appends the values of the row's keys, one line without control characters. A
 * site or a stack is named by function, file and line; a stack also by its
 * number, which distinguishes stacks of one site. `width`: columns of each
 * value, unless names are `full`.
 */
void query_row_name(const struct query_rows *rows, const struct query_row *row,
		    bool full, size_t width, struct buffer *name);

#endif
