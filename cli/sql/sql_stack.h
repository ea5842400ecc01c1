/*
 * sql_stack.h: what is told of a call stack, by columns and functions of SQL
 * alike.
 */
#ifndef GNOMON_SQL_STACK_H
#define GNOMON_SQL_STACK_H

#include <sqlite3.h>
#include <stdint.h>

#include "cli/sql/sql_trace.h"

typedef void sql_stack_value(struct sql_trace *trace, uint32_t node,
			     sqlite3_context *to);

/* Of the site: the innermost frame of the program's own code. */
sql_stack_value sql_stack_function, sql_stack_file, sql_stack_line,
	sql_stack_library;
/* How many frames, why it ends early, its functions, innermost first. */
sql_stack_value sql_stack_depth, sql_stack_stopped, sql_stack_text;

#endif
