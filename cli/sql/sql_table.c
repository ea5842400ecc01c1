/*
 * sql_table.c: see sql_table.h: columns and values, for all tables.
 */
#include "cli/sql/sql_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/text/utf8.h"
#include "unwind/base/assertion.h"

static const struct sql_column process_column = {
	.name = "process", .type = SQL_INTEGER, .equal = true,
	.help = "number of the trace: processes.process",
};

static unsigned own_count(const struct sql_table *table)
{
	unsigned count;

	table->columns(&count);
	assert(count + 1 + FILTER_END - FILTER_FIRST <= SQL_COLUMNS_MAX);
	return count;
}

unsigned sql_table_count(const struct sql_table *table)
{
	return 1 + own_count(table) +
	       (table->filters ? FILTER_END - FILTER_FIRST : 0);
}

int sql_table_filter(const struct sql_table *table, unsigned n)
{
	unsigned own = 1 + own_count(table);

	return n < own ? 0 : FILTER_FIRST + (int)(n - own);
}

static bool is_own(const struct sql_table *table, const char *name)
{
	unsigned count;
	const struct sql_column *columns = table->columns(&count);

	if (strcmp(name, process_column.name) == 0)
		return true;
	for (unsigned i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return true;
	return false;
}

/* "size-min" becomes size_min, or with_NAME if the table has such a column or
 * it is an SQL keyword. */
static void filter_name(const struct sql_table *table, const char *option,
			char name[64])
{
	char plain[48];
	int size = snprintf(plain, sizeof(plain), "%s", option);

	ASSERT(size > 0 && size < (int)sizeof(plain));
	for (char *at = plain; *at != 0; at++)
		if (*at == '-')
			*at = '_';
	snprintf(name, 64, "%s%s", is_own(table, plain) ||
		 sqlite3_keyword_check(plain, size) ? "with_" : "", plain);
}

struct sql_column sql_table_column(const struct sql_table *table, unsigned n,
				   char name[64])
{
	int filter = sql_table_filter(table, n);
	unsigned count;

	if (n == 0)
		return process_column;
	if (filter == 0)
		return table->columns(&count)[n - 1];
	filter_name(table, filter_options.options[filter - FILTER_FIRST].name,
		    name);
	return (struct sql_column){
		.name = name, .type = SQL_TEXT, .hidden = true,
		.help = filter_options.options[filter - FILTER_FIRST].help,
	};
}

/* Filters have no type, so SQLite does not convert their values. */
static const char *type_text(const struct sql_table *table, unsigned n,
			     const struct sql_column *column)
{
	static const char *const texts[] = {
		[SQL_INTEGER] = " INTEGER", [SQL_REAL] = " REAL",
		[SQL_TEXT] = " TEXT",
	};

	return sql_table_filter(table, n) != 0 ? "" : texts[column->type];
}

void sql_table_schema(const struct sql_table *table, bool help,
		      struct buffer *text)
{
	unsigned count = sql_table_count(table);

	if (help)
		buffer_printf(text, "-- %s\n", table->help);
	buffer_printf(text, "CREATE TABLE %s(", table->name);
	for (unsigned n = 0; n < count; n++) {
		char name[64];
		struct sql_column column = sql_table_column(table, n, name);

		buffer_printf(text, "%s%s%s%s%s", help ? "\n  " : "",
			      column.name, type_text(table, n, &column),
			      column.hidden ? " HIDDEN" : "",
			      n + 1 < count ? "," : "");
		if (help)
			buffer_printf(text, " -- %s", column.help);
	}
	buffer_string(text, help ? "\n);\n" : ")");
}

/* ---- values ---- */

static bool is_utf8(const char *text)
{
	unsigned n;

	for (; *text != 0; text += n) {
		n = (unsigned char)*text < 0x80 ? 1 : utf8_length(text);
		if (n == 0)
			return false;
	}
	return true;
}

void sql_text(sqlite3_context *to, const char *text)
{
	LOCAL_BUFFER clean = { 0 };

	if (text == NULL) {
		sqlite3_result_null(to);
		return;
	}
	if (!is_utf8(text)) {
		utf8_add(&clean, text);
		text = buffer_text(&clean);
	}
	sqlite3_result_text(to, text, -1, SQLITE_TRANSIENT);
}
