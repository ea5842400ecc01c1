/*
 * sql_result.c: see sql_result.h. A table's columns are as wide as what its
 * first rows have in them; on a terminal, the widest are cut until all fit.
 */
#include "cli/sql/sql_result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/style.h"
#include "cli/base/text/csv.h"
#include "cli/base/text/fit.h"
#include "cli/sql/sql_json.h"

#define ROWS_LOOKED_AT 1000	/* before the first is written */
#define NARROWEST 6		/* that a column is cut to */
#define GAP 2

/* A value as a text, without control characters; NULL is "". */
static void value_text(sqlite3_stmt *statement, int column,
		       struct buffer *text)
{
	const char *value = (const char *)sqlite3_column_text(statement,
							      column);

	if (sqlite3_column_type(statement, column) == SQLITE_BLOB)
		buffer_printf(text, "(%d bytes)",
			      sqlite3_column_bytes(statement, column));
	else if (value != NULL)
		buffer_add(text, value, (size_t)sqlite3_column_bytes(
				   statement, column));
	buffer_printable(text);
}

/* ---- tables ---- */

struct cell {
	char *text;
	bool right;		/* a number */
};

struct sheet {
	FILE *out;
	const struct style *style;
	int columns;
	size_t *widths;
	struct cell *cells;	/* of the first rows, row by row */
	size_t count, capacity;
};

static void add_cell(struct sheet *sheet, int column, const char *text,
		     bool right)
{
	size_t width = fit_columns(text);

	GROW(sheet->cells, sheet->count, sheet->capacity);
	sheet->cells[sheet->count++] = (struct cell){
		grow_copy(text, strlen(text)), right
	};
	if (width > sheet->widths[column])
		sheet->widths[column] = width;
}

static void add_row(struct sheet *sheet, sqlite3_stmt *statement)
{
	LOCAL_BUFFER text = { 0 };

	for (int i = 0; i < sheet->columns; i++) {
		int type = sqlite3_column_type(statement, i);

		buffer_clear(&text);
		value_text(statement, i, &text);
		add_cell(sheet, i, buffer_text(&text),
			 type == SQLITE_INTEGER || type == SQLITE_FLOAT);
	}
}

/* Columns of a terminal; 0: it is none. */
static size_t screen_width(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) ||
	    ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

/* Cut the widest column by one, until all fit, or none can be cut. */
static void fit_widths(struct sheet *sheet)
{
	size_t limit = screen_width(sheet->out), sum = 0;

	for (int i = 0; i < sheet->columns; i++)
		sum += sheet->widths[i] + GAP;
	while (limit > 0 && sum > limit + GAP) {
		int widest = 0;

		for (int i = 1; i < sheet->columns; i++)
			if (sheet->widths[i] > sheet->widths[widest])
				widest = i;
		if (sheet->widths[widest] <= NARROWEST)
			break;
		sheet->widths[widest]--;
		sum--;
	}
}

static void put_blanks(FILE *out, size_t count)
{
	fprintf(out, "%*s", (int)count, "");
}

static void put_cell(const struct sheet *sheet, int column,
		     const struct cell *cell)
{
	size_t width = sheet->widths[column], taken;
	LOCAL_BUFFER text = { 0 };

	fit_middle(&text, cell->text, width);
	taken = fit_columns(buffer_text(&text));
	if (cell->right && taken < width)
		put_blanks(sheet->out, width - taken);
	fputs(buffer_text(&text), sheet->out);
	if (column + 1 < sheet->columns)
		put_blanks(sheet->out, GAP + (!cell->right && taken < width ?
					      width - taken : 0));
}

/* And let go of them. */
static void put_cells(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++) {
		int column = (int)(i % (size_t)sheet->columns);

		put_cell(sheet, column, &sheet->cells[i]);
		free(sheet->cells[i].text);
		if (column + 1 == sheet->columns)
			putc('\n', sheet->out);
	}
	sheet->count = 0;
}

static void begin_sheet(struct sheet *sheet, sqlite3_stmt *statement)
{
	LOCAL_BUFFER text = { 0 };

	for (int i = 0; i < sheet->columns; i++) {
		buffer_clear(&text);
		buffer_string(&text, sqlite3_column_name(statement, i));
		buffer_printable(&text);
		add_cell(sheet, i, buffer_text(&text), false);
	}
}

/* Headings stand as their column's first value does. */
static void settle_sheet(struct sheet *sheet)
{
	size_t columns = (size_t)sheet->columns;

	fit_widths(sheet);
	for (size_t i = 0; i < columns && sheet->count > columns; i++)
		sheet->cells[i].right = sheet->cells[columns + i].right;
	fputs(sheet->style->title, sheet->out);
	for (size_t i = 0; i < columns; i++) {
		put_cell(sheet, (int)i, &sheet->cells[i]);
		free(sheet->cells[i].text);
	}
	fprintf(sheet->out, "%s\n", sheet->style->off);
	memmove(sheet->cells, sheet->cells + columns,
		(sheet->count - columns) * sizeof(*sheet->cells));
	sheet->count -= columns;
	put_cells(sheet);
}

static int write_table(struct sql_session *session, sqlite3_stmt *statement)
{
	struct sheet sheet = {
		.out = session->out, .style = style_of(session->out),
		.columns = sqlite3_column_count(statement),
	};
	size_t rows = 0;
	int status;

	sheet.widths = grow_zeroed((size_t)sheet.columns,
				   sizeof(*sheet.widths));
	begin_sheet(&sheet, statement);
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		add_row(&sheet, statement);
		if (++rows == ROWS_LOOKED_AT)
			settle_sheet(&sheet);
		else if (rows > ROWS_LOOKED_AT)
			put_cells(&sheet);
	}
	if (rows < ROWS_LOOKED_AT && status == SQLITE_DONE)
		settle_sheet(&sheet);
	for (size_t i = 0; i < sheet.count; i++)
		free(sheet.cells[i].text);
	free(sheet.cells);
	free(sheet.widths);
	return status;
}

/* ---- CSV ---- */

static int write_csv(struct sql_session *session, sqlite3_stmt *statement)
{
	struct csv csv = { .out = session->out };
	int columns = sqlite3_column_count(statement), status;
	LOCAL_BUFFER text = { 0 };

	for (int i = 0; i < columns; i++)
		csv_text(&csv, sqlite3_column_name(statement, i));
	csv_end_line(&csv);
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++) {
			bool none = sqlite3_column_type(statement, i) ==
				SQLITE_NULL;

			buffer_clear(&text);
			value_text(statement, i, &text);
			csv_text(&csv, none ? NULL : buffer_text(&text));
		}
		csv_end_line(&csv);
	}
	csv_free(&csv);
	return status;
}

int sql_result_write(struct sql_session *session, sqlite3_stmt *statement)
{
	int status;

	if (sqlite3_column_count(statement) > 0) {
		switch (session->mode) {
		case SQL_MODE_CSV:
			return write_csv(session, statement);
		case SQL_MODE_JSON:
			return sql_json_write(session, statement);
		default:
			return write_table(session, statement);
		}
	}
	while ((status = sqlite3_step(statement)) == SQLITE_ROW)
		;
	return status;
}
