/*
 * sql_result.c: see sql_result.h. The first rows set the width of a table's
 * columns. On a terminal, the widest texts are cut until a row fits. If too
 * little would be left of them, each value gets a line of its own.
 */
#include "cli/sql/sql_result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/style.h"
#include "cli/base/text/csv.h"
#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/utf8.h"
#include "cli/sql/sql_json.h"

#define ROWS_LOOKED_AT 1000	/* before any output */
#define TEXT_MIN 20		/* minimum width of a cut text */
#define HEADING_MIN 6
#define GAP 2

/* A value as UTF-8 text without control characters; NULL is "". */
static void value_text(sqlite3_stmt *statement, int column,
		       struct buffer *text)
{
	int type = sqlite3_column_type(statement, column);
	LOCAL_BUFFER raw = { 0 };
	const char *value;

	if (type == SQLITE_NULL)
		return;
	if (type == SQLITE_BLOB) {
		buffer_string(text, COUNTED((uint64_t)sqlite3_column_bytes(
						statement, column), "byte"));
		return;
	}
	value = (const char *)sqlite3_column_text(statement, column);
	if (value != NULL)
		buffer_add(&raw, value, (size_t)sqlite3_column_bytes(
				   statement, column));
	buffer_printable(&raw);
	utf8_add(text, buffer_text(&raw));
}

/* ---- tables ---- */

struct cell {
	char *text;
	bool number;		/* never cut */
	bool right;
};

struct sheet {
	FILE *out;
	const struct style *style;
	int columns;
	bool upright;		/* a line for each value */
	size_t *widths;
	size_t *min;		/* minimum widths */
	struct cell *headings;
	struct cell *cells;	/* of the first rows, row by row */
	size_t count, capacity;
	uint64_t rows;		/* rows written */
};

/* Numbers are never cut; texts lose their middle. */
static size_t min_width(size_t width, bool number)
{
	return number || width < TEXT_MIN ? width : TEXT_MIN;
}

static void add_cell(struct sheet *sheet, int column, const char *text,
		     bool number)
{
	size_t width = fit_columns(text), min = min_width(width, number);

	GROW(sheet->cells, sheet->count, sheet->capacity);
	sheet->cells[sheet->count++] = (struct cell){
		grow_copy(text, strlen(text)), number, number
	};
	if (width > sheet->widths[column])
		sheet->widths[column] = width;
	if (min > sheet->min[column])
		sheet->min[column] = min;
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

/* Columns of the terminal; 0: not a terminal. */
static size_t screen_width(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) ||
	    ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

/* The widest column that can still be cut; -1: none. */
static int find_widest(const struct sheet *sheet)
{
	int widest = -1;

	for (int i = 0; i < sheet->columns; i++)
		if (sheet->widths[i] > sheet->min[i] &&
		    (widest < 0 || sheet->widths[i] > sheet->widths[widest]))
			widest = i;
	return widest;
}

/* Narrow the widest column by one until all fit; otherwise print one value a
 * line. */
static void fit_widths(struct sheet *sheet)
{
	size_t limit = screen_width(sheet->out), sum = 0;
	int widest;

	if (sheet->count == 0)
		return;		/* headings alone are always one line */
	for (int i = 0; i < sheet->columns; i++)
		sum += sheet->widths[i] + GAP;
	while (limit > 0 && sum > limit + GAP) {
		widest = find_widest(sheet);
		if (widest < 0)
			break;
		sheet->widths[widest]--;
		sum--;
	}
	sheet->upright = limit > 0 && sum > limit + GAP;
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

	if (cell->number)
		buffer_string(&text, cell->text);
	else
		fit_middle(&text, cell->text, width);
	taken = fit_columns(buffer_text(&text));
	if (cell->right && taken < width)
		put_blanks(sheet->out, width - taken);
	fputs(buffer_text(&text), sheet->out);
	if (column + 1 < sheet->columns)
		put_blanks(sheet->out, GAP + (!cell->right && taken < width ?
					      width - taken : 0));
}

/* A line of a table. */
static void put_line(const struct sheet *sheet, const struct cell *cells)
{
	for (int i = 0; i < sheet->columns; i++)
		put_cell(sheet, i, &cells[i]);
}

/* One line for each value. */
static void put_upright(const struct sheet *sheet, const struct cell *cells)
{
	size_t width = 0;

	for (int i = 0; i < sheet->columns; i++)
		if (fit_columns(sheet->headings[i].text) > width)
			width = fit_columns(sheet->headings[i].text);
	fprintf(sheet->out, "%s%srow %" PRIu64 "%s\n",
		sheet->rows > 0 ? "\n" : "", sheet->style->title,
		sheet->rows + 1, sheet->style->off);
	for (int i = 0; i < sheet->columns; i++) {
		const char *name = sheet->headings[i].text;

		fputs(name, sheet->out);
		if (cells[i].text[0] != 0)
			put_blanks(sheet->out, width - fit_columns(name) + GAP);
		fprintf(sheet->out, "%s\n", cells[i].text);
	}
}

static void free_cells(struct cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(cells[i].text);
}

/* Write the rows and free them. */
static void put_rows(struct sheet *sheet)
{
	size_t columns = (size_t)sheet->columns;

	for (size_t i = 0; i < sheet->count; i += columns) {
		if (sheet->upright) {
			put_upright(sheet, &sheet->cells[i]);
		} else {
			put_line(sheet, &sheet->cells[i]);
			putc('\n', sheet->out);
		}
		sheet->rows++;
	}
	free_cells(sheet->cells, sheet->count);
	sheet->count = 0;
}

/* Headings start as cells, to set the widths. */
static void begin_sheet(struct sheet *sheet, sqlite3_stmt *statement)
{
	size_t columns = (size_t)sheet->columns;
	LOCAL_BUFFER text = { 0 };

	sheet->widths = grow_zeroed(columns, sizeof(*sheet->widths));
	sheet->min = grow_zeroed(columns, sizeof(*sheet->min));
	for (int i = 0; i < sheet->columns; i++) {
		buffer_clear(&text);
		buffer_string(&text, sqlite3_column_name(statement, i));
		buffer_printable(&text);
		add_cell(sheet, i, buffer_text(&text), false);
		if (sheet->min[i] > HEADING_MIN)
			sheet->min[i] = HEADING_MIN;
	}
	sheet->headings = sheet->cells;
	sheet->cells = NULL;
	sheet->count = sheet->capacity = 0;
}

/* Align headings like their column's first value. */
static void settle_sheet(struct sheet *sheet)
{
	size_t columns = (size_t)sheet->columns;

	fit_widths(sheet);
	for (size_t i = 0; i < columns && sheet->count > 0; i++)
		sheet->headings[i].right = sheet->cells[i].right;
	if (!sheet->upright) {
		fputs(sheet->style->title, sheet->out);
		put_line(sheet, sheet->headings);
		fprintf(sheet->out, "%s\n", sheet->style->off);
	}
	put_rows(sheet);
}

static void end_sheet(struct sheet *sheet)
{
	free_cells(sheet->cells, sheet->count);
	free_cells(sheet->headings, (size_t)sheet->columns);
	free(sheet->cells);
	free(sheet->headings);
	free(sheet->widths);
	free(sheet->min);
}

static int write_table(struct sql_session *session, sqlite3_stmt *statement)
{
	struct sheet sheet = {
		.out = session->out, .style = style_of(session->out),
		.columns = sqlite3_column_count(statement),
	};
	size_t rows = 0;
	int status;

	begin_sheet(&sheet, statement);
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		add_row(&sheet, statement);
		if (++rows == ROWS_LOOKED_AT)
			settle_sheet(&sheet);
		else if (rows > ROWS_LOOKED_AT)
			put_rows(&sheet);
	}
	if (rows < ROWS_LOOKED_AT && status == SQLITE_DONE)
		settle_sheet(&sheet);
	end_sheet(&sheet);
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
