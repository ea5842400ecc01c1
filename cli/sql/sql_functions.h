/*
 * sql_functions.h: functions of SQL that gnomon brings.
 */
#ifndef GNOMON_SQL_FUNCTIONS_H
#define GNOMON_SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "cli/base/text/buffer.h"
#include "cli/sql/sql_trace.h"

/* Makes them known to a connection. 0, or SQLite's error. The traces are
 * borrowed. */
int sql_functions_add(sqlite3 *db, struct sql_traces *traces);
/* "stack(context)", what it is: a line each, for .help. */
void sql_functions_help(struct buffer *text);
/* The n-th, without its parentheses; NULL behind the last. */
const char *sql_functions_name(size_t n);

#endif
