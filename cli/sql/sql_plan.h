/*
 * sql_plan.h: which constraints of a statement a virtual table uses itself.
 * SQLite keeps the plan as a text between the two calls.
 */
#ifndef GNOMON_SQL_PLAN_H
#define GNOMON_SQL_PLAN_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"
#include "cli/sql/sql_table.h"

/* Chooses constraints, and writes the plan and its cost to *info. Returns a
 * status of SQLite; for SQLITE_ERROR, `why` says what is wrong. */
int sql_plan_choose(const struct sql_table *table,
		    const struct sql_traces *traces, sqlite3_index_info *info,
		    struct buffer *why);

/* Puts the values of a plan's constraints into a cursor without any. False: a
 * filter has an invalid value, as `why` says. */
bool sql_plan_apply(struct sql_cursor *cursor, const char *plan, int argc,
		    sqlite3_value **argv, struct buffer *why);

#endif
