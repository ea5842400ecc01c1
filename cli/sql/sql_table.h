/*
 * sql_table.h: what a table of SQL is: its columns, and how it finds rows.
 * sql_vtab.c makes a virtual table of SQLite of each; a new table is a file in
 * table/ and a line in sql_tables.c.
 *
 *	columns     0 process | the table's own | filters, hidden (filters.h)
 *
 * Rows are those of one trace after the other. Column 0 of each table is the
 * number of its process, which is told here for all.
 *
 * Called by the thread that has the session.
 */
#ifndef GNOMON_SQL_TABLE_H
#define GNOMON_SQL_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/sql/sql_trace.h"

#define SQL_COLUMNS_MAX 128
#define SQL_TERMS_MAX 80	/* constraints of one table that are handed on */

enum sql_type { SQL_INTEGER, SQL_REAL, SQL_TEXT };

struct sql_column {
	const char *name;
	enum sql_type type;
	bool hidden;		/* not in SELECT * */
	/* Comparisons with it are handed to the table: = alone, or also <, <=,
	 * >, >=. SQLite looks at rows again, so more of them is no mistake. */
	bool equal, range;
	/* … but of whole numbers that the statement has: all of these, and no
	 * others, come. The column is never NULL. */
	bool exact;
	const char *help;
};

/* A comparison that was handed on, with its value. */
struct sql_term {
	unsigned column;
	int op;			/* SQLITE_INDEX_CONSTRAINT_EQ … */
	bool is_number;		/* else no row can be equal to it, unless */
	int64_t number;
	char *text;		/* it is a text; or NULL */
};

struct sql_cursor {
	sqlite3_vtab_cursor base;
	const struct sql_table *table;
	const struct sql_traces *traces;
	unsigned own;		/* columns of the table's own */
	uint64_t used;		/* columns, as SQLite's colUsed has them */
	struct sql_words words;	/* filters */
	sqlite3_value *values[SQL_COLUMNS_MAX];	/* given to hidden columns, by
						 * column; or NULL */
	struct sql_term terms[SQL_TERMS_MAX];
	unsigned term_count;
	bool nothing;		/* a value is NULL, so nothing is equal */
	uint64_t skip;		/* so many rows are passed over first */
	/* Where it is. */
	size_t at;		/* in traces; their count: at the end */
	struct sql_trace *trace;
	uint64_t row, end;	/* of this trace: the next, the one behind the
				 * last */
	uint64_t run;		/* rows up to this one follow `row` without a
				 * call of `next` */
	/* Columns whose values are these numbers, by row; NULL: `value` tells
	 * them. Of a table that has runs. */
	const uint64_t *numbers[SQL_COLUMNS_MAX];
	bool begun;		/* `begin` of this trace was called */
	void *state;		/* the table's, of this trace */
};

struct sql_table {
	const char *name;
	const char *help;
	/* Its own columns, from number 1 on. */
	const struct sql_column *(*columns)(unsigned *count);
	bool filters;		/* has the hidden ones, too */
	/*
	 * Set row and end to those of cursor->trace, and state to whatever it
	 * likes. False: it cannot, and `why` says so; then `finish` is called
	 * as well.
	 */
	bool (*begin)(struct sql_cursor *cursor, struct buffer *why);
	void (*finish)(struct sql_cursor *cursor);	/* NULL: nothing to do */
	/* Go to the first row from `row` on, where that need not be one. NULL:
	 * all up to `end` are. False: as `begin`. */
	bool (*next)(struct sql_cursor *cursor, struct buffer *why);
	/* All up to `end` are rows, and `next` is called there: it sets row and
	 * end to further ones, or end to row. */
	bool runs;
	bool skips;		/* `begin` knows cursor->skip */
	/* The number of the row in its trace, below 1 << 40; NULL: `row`. */
	uint64_t (*number)(const struct sql_cursor *cursor);
	/* The value of one of its own columns, from 1. */
	void (*value)(struct sql_cursor *cursor, unsigned column,
		      sqlite3_context *to);
	/* Whether it can answer with these columns; false: `why`. NULL: it can.
	 * `by`: appends what rows are grouped by, for EXPLAIN QUERY PLAN. */
	bool (*plan)(uint64_t used, struct buffer *by, struct buffer *why);
	uint64_t rows;		/* some estimate, for who plans */
};

extern const struct sql_table *const sql_tables[];	/* NULL-terminated */

/* ---- columns, of any table ---- */

/* How many, and the n-th: process, own, filters. */
unsigned sql_table_count(const struct sql_table *table);
struct sql_column sql_table_column(const struct sql_table *table, unsigned n,
				   char name[64]);
/* The filter of a column; 0: it is none. */
int sql_table_filter(const struct sql_table *table, unsigned n);
/* "CREATE TABLE …", with what each column is, if `help`. */
void sql_table_schema(const struct sql_table *table, bool help,
		      struct buffer *text);
/* For colUsed, whose last bit stands for all further columns. */
static inline bool sql_uses(uint64_t used, unsigned column)
{
	return used >> (column < 63 ? column : 63) & 1;
}

/* ---- for tables ---- */

/* The term about a column with this comparison; NULL: none. */
const struct sql_term *sql_cursor_term(const struct sql_cursor *cursor,
				       unsigned column, int op);
/* Sets the rows to those that have a number in an ascending array of `count`,
 * if a term asks for one that is equal; else to all. `id`: numbers are unique
 * over traces (sql_id). */
void sql_cursor_find(struct sql_cursor *cursor, unsigned column,
		     const uint32_t *numbers, size_t count);

/* The view of the cursor's filters, of its trace (sql_view_of). */
struct sql_view *sql_cursor_view(const struct sql_cursor *cursor,
				 const struct query *query,
				 struct buffer *why);
/* The filter of the cursor's words, and of the command's (sql_trace_filter). */
struct filter *sql_cursor_filter(const struct sql_cursor *cursor,
				 struct buffer *why);

/* Values. Of a text, what is no UTF-8 is replaced; NULL is NULL. Numbers are
 * at most INT64_MAX. */
void sql_text(sqlite3_context *to, const char *text);
static inline void sql_number(sqlite3_context *to, uint64_t number)
{
	sqlite3_result_int64(to, number > INT64_MAX ? INT64_MAX :
			     (sqlite3_int64)number);
}

/* Makes all tables known to a connection. 0, or SQLite's error. */
int sql_vtab_add(sqlite3 *db, struct sql_traces *traces);

#endif
