/*
 * row_name.h: what a row is about, in a few words: for legends and columns,
 * where its stacks have no room.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_ROW_NAME_H
#define GNOMON_QUERY_ROW_NAME_H

#include "cli/query/rows.h"

/*
 * Appends the values of the row's keys, one line without control characters.
 * A site, or a stack, is its function, file and line; a stack has its number,
 * too, which tells it from others of its site. `width`: columns of each; but
 * not if names are `full`.
 */
void query_row_name(const struct query_rows *rows, const struct query_row *row,
		    bool full, size_t width, struct buffer *name);

#endif
