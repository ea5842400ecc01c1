/*
 * sql_table.h: the interface of an SQL table: its columns, and how to find its
 * rows. sql_vtab.c turns each table into a SQLite virtual table. To add one,
 * write a file in table/ and add a line to sql_tables.c.
 *
 *	columns     0 process | the table's own | filters, hidden (filters.h)
 *
 * A table has the rows of all traces, one trace after another. Column 0 of each
 * table is the process number, handled here for all.
 *
 * Called by the session's thread.
 */
#ifndef GNOMON_SQL_TABLE_H
#define GNOMON_SQL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/sql/sql_trace.h"
#include "cli/sql/sqlite_compat.h"

#define SQL_COLUMNS_MAX 128
#define SQL_TERMS_MAX 80	/* constraints passed to one table */

enum sql_type { SQL_INTEGER, SQL_REAL, SQL_TEXT };

struct sql_column {
	const char *name;
	enum sql_type type;
	bool hidden;		/* left out of SELECT * */
	/* Which comparisons SQLite passes to the table: =, and also <, <=, >,
	 * >=. SQLite checks the rows again, so extra rows do no harm. */
	bool equal, range;
	/* Comparisons with integer constants are exact: SQLite does not check
	 * again. The column is never NULL. */
	bool exact;
	const char *help;
};

/* A comparison passed to the table, with its value. */
struct sql_term {
	unsigned column;
	int op;			/* SQLITE_INDEX_CONSTRAINT_EQ … */
	bool is_number;		/* false: no row equals the value, except a */
	int64_t number;
	char *text;		/* text; else NULL */
};

struct sql_cursor {
	sqlite3_vtab_cursor base;
	const struct sql_table *table;
	const struct sql_traces *traces;
	unsigned own;		/* number of the table's own columns */
	uint64_t used;		/* used columns: SQLite's colUsed */
	struct sql_words words;	/* filters */
	sqlite3_value *values[SQL_COLUMNS_MAX];	/* by column; or NULL */
	struct sql_term terms[SQL_TERMS_MAX];
	unsigned term_count;
	bool nothing;		/* a value is NULL, so no row matches */
	uint64_t skip;		/* OFFSET: rows to skip */
	/* The position. */
	size_t at;		/* index in traces; their count: at the end */
	struct sql_trace *trace;
	uint64_t row, end;	/* in this trace: the current row and the end */
	uint64_t run;		/* rows before this one need no call
				 * of `next` */
	/* Values of columns as arrays by row; NULL: call `value`. Only for
	 * tables with `runs`. */
	const uint64_t *numbers[SQL_COLUMNS_MAX];
	bool begun;		/* `begin` was called for this trace */
	void *state;		/* the table's data for this trace */
};

struct sql_table {
	const char *name;
	const char *help;
	/* Its own columns, numbered from 1. */
	const struct sql_column *(*columns)(unsigned *count);
	bool filters;		/* also has the hidden filter columns */
	/*
	 * Set row and end for cursor->trace, and state as it likes. False: it
	 * cannot; `why` says why, and `finish` is called as well.
	 */
	bool (*begin)(struct sql_cursor *cursor, struct buffer *why);
	void (*finish)(struct sql_cursor *cursor);	/* or NULL */
	/* Advance `row` to the first existing row at or after it. NULL: all
	 * rows up to `end` exist. False: like `begin`. */
	bool (*next)(struct sql_cursor *cursor, struct buffer *why);
	/* All rows up to `end` exist; at `end`, `next` sets row and end to more
	 * rows, or sets end to row. */
	bool runs;
	bool skips;		/* `begin` handles cursor->skip */
	/* The row's number in its trace, below 1 << 40; NULL: `row`. */
	uint64_t (*number)(const struct sql_cursor *cursor);
	/* The value of one of its own columns, numbered from 1. */
	void (*value)(struct sql_cursor *cursor, unsigned column,
		      sqlite3_context *to);
	/* Whether it supports this set of used columns; false: `why`. NULL:
	 * always. `by`: appends the group keys, for EXPLAIN QUERY PLAN. */
	bool (*plan)(uint64_t used, struct buffer *by, struct buffer *why);
	uint64_t rows;		/* an estimate for the query planner */
};

extern const struct sql_table *const sql_tables[];	/* NULL-terminated */

/* ---- columns, of any table ---- */

/* Number of columns, and the n-th: process, own, filters. */
unsigned sql_table_count(const struct sql_table *table);
struct sql_column sql_table_column(const struct sql_table *table, unsigned n,
				   char name[64]);
/* The filter of a column; 0: not a filter. */
int sql_table_filter(const struct sql_table *table, unsigned n);
/* Write "CREATE TABLE …", with each column's help if `help`. */
void sql_table_schema(const struct sql_table *table, bool help,
		      struct buffer *text);
/* colUsed's last bit stands for all further columns. */
static inline bool sql_uses(uint64_t used, unsigned column)
{
	return used >> (column < 63 ? column : 63) & 1;
}

/* ---- for tables ---- */

/* The term with this column and operator; NULL: none. */
const struct sql_term *sql_cursor_term(const struct sql_cursor *cursor,
				       unsigned column, int op);
/* Set row and end to the rows whose number is in the ascending array of `count`
 * and equal to the column's = term, if there is one; else to all. The numbers
 * are those of sql_id. */
void sql_cursor_find(struct sql_cursor *cursor, unsigned column,
		     const uint32_t *numbers, size_t count);

/* The view of the cursor's filters for its trace (sql_view_of). */
struct sql_view *sql_cursor_view(const struct sql_cursor *cursor,
				 const struct query *query,
				 struct buffer *why);
/* The filter made of the cursor's and the command's filters
 * (sql_trace_filter). */
struct filter *sql_cursor_filter(const struct sql_cursor *cursor,
				 struct buffer *why);

/* Return a value. Invalid UTF-8 in a text is replaced; NULL stays NULL. Numbers
 * are capped at INT64_MAX. */
void sql_text(sqlite3_context *to, const char *text);
static inline void sql_number(sqlite3_context *to, uint64_t number)
{
	sqlite3_result_int64(to, number > INT64_MAX ? INT64_MAX :
			     (sqlite3_int64)number);
}

/* Register all tables with a connection. 0, or SQLite's error. */
int sql_vtab_add(sqlite3 *db, struct sql_traces *traces);

#endif
