/*
 * sql_functions.h: gnomon's own SQL functions.
 */
#ifndef GNOMON_SQL_FUNCTIONS_H
#define GNOMON_SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "cli/base/text/buffer.h"
#include "cli/sql/sql_trace.h"

/* Register them with a connection. 0, or SQLite's error. The traces are
 * borrowed. */
int sql_functions_add(sqlite3 *db, struct sql_traces *traces);
/* A line for each function, "stack(context)" and its help, for .help. */
void sql_functions_help(struct buffer *text);
/* The name of the n-th function, without parentheses; NULL: past the end. */
const char *sql_functions_name(size_t n);

#endif
