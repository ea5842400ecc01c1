/*
 * sql_stack.h: values of a call stack, for columns and SQL functions.
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
/* Its number of frames, why its walk stopped early, its functions innermost
 * first. */
sql_stack_value sql_stack_depth, sql_stack_stopped, sql_stack_text;

#endif
