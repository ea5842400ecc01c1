/*
 * report_brief.c: the default report, on one screen: findings, a summary, the
 * table for the most important finding, and commands for more. Called by the
 * main thread.
 *
 * Rows of the table are added while they fit: each part is written into memory
 * first, and its lines are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/quote.h"
#include "cli/report/findings.h"
#include "cli/report/report.h"

#define SCREEN_LINES 45
#define LAST_LINES 4		/* after the rows */
#define ROWS 6
#define SHARE_MIN 100		/* rows below 1/100 of the whole are left out */
#define FRAMES_FIRST 4		/* of the first row's largest stack */
#define FRAMES 2		/* of other rows' stacks */
#define BAR_CELLS 16
#define FRAME_INDENT 9

/* Redirects the report's output into memory. */
struct page {
	struct report *report;
	FILE *was;
	char *text;
	size_t size;
};

static void page_begin(struct page *page, struct report *r)
{
	*page = (struct page){ .report = r, .was = r->out };
	r->out = open_memstream(&page->text, &page->size);
	if (r->out == NULL)
		grow_failed(0);
}

/* Ends it; returns the number of lines. The text is to be freed. */
static unsigned page_end(struct page *page)
{
	unsigned lines = 0;

	fclose(page->report->out);
	page->report->out = page->was;
	for (size_t i = 0; i < page->size; i++)
		lines += page->text[i] == '\n';
	return lines;
}

/* ---- rows ---- */

/* The share of the printed stack, if the row has several. */
static void put_others(const struct report *r, const struct query_row *row,
		       uint64_t value)
{
	if (row->contexts < 2)
		return;
	fprintf(r->out, "%*s%s(this call stack: %s of it; %s)%s\n",
		FRAME_INDENT, "", r->style->dim,
		PERCENT_TEXT(row->largest, value),
		COUNTED(row->contexts - 1, "other"), r->style->off);
}

static void put_row(struct report *r, const struct query_rows *rows,
		    const struct query_row *row, unsigned number)
{
	enum measure key = rows->query->order;
	uint64_t value = query_value_of_row(rows, row);

	fprintf(r->out, "\n%4u. ", number);
	style_put_bar(r->style, r->out, (double)value,
		      (double)report_whole(r, key), BAR_CELLS);
	if (r->style->bars != STYLE_NO_BARS)
		putc(' ', r->out);
	report_figures(r, &row->figures, key, row->contexts > 1 &&
		       !rows->exact);
	putc('\n', r->out);
	report_load(r, row->node);
	if (r->stack.count == 0)
		fprintf(r->out, "%*s[no stack]\n", FRAME_INDENT, "");
	else
		report_stack(r, r->stack.site, number == 1 ? FRAMES_FIRST :
			     FRAMES, FRAME_INDENT);
	put_others(r, row, value);
}

static bool is_small(const struct report *r, const struct query_rows *rows,
		     const struct query_row *row)
{
	return query_value_of_row(rows, row) <
		report_whole(r, rows->query->order) / SHARE_MIN;
}

/* Prints as many rows as fit into `room` lines, at least one; returns how
 * many. */
static size_t put_rows(struct report *r, struct query_rows *rows,
		       unsigned room)
{
	size_t shown = 0;
	bool full = false;

	while (shown < rows->count && !full &&
	       (shown == 0 || !is_small(r, rows, &rows->list[shown]))) {
		struct page page;
		unsigned lines;

		page_begin(&page, r);
		put_row(r, rows, &rows->list[shown], (unsigned)shown + 1);
		lines = page_end(&page);
		full = shown > 0 && lines > room;
		if (!full) {
			fwrite(page.text, 1, page.size, r->out);
			room -= lines < room ? lines : room;
			shown++;
		}
		free(page.text);
	}
	return shown;
}

static enum measure_moment moment_of(const struct report *r)
{
	return query_is_of_moment(r->options->query) ? MEASURE_THEN :
		r->about.being_written ? MEASURE_NOW : MEASURE_AT_END;
}

/* ---- commands for more ---- */

/* The number of rows that were left out. */
static void put_left(const struct report *r, enum measure key, size_t left)
{
	if (left > 0)
		fprintf(r->out, "\n      and %s more %s: --sort %s\n",
			COUNT_TEXT(left), left == 1 ? "site" : "sites",
			measure_kinds[key].name);
}

static void put_more(const struct report *r)
{
	LOCAL_BUFFER trace = { 0 }, line = { 0 };

	quote_word(&trace, r->options->trace, strlen(r->options->trace));
	buffer_printf(&line, "more: gnomon report --all %s; gnomon serve %s",
		      trace.data, trace.data);
	if (fit_columns(line.data) > report_width()) {
		buffer_clear(&line);
		buffer_string(&line, "more: gnomon report --all TRACE; gnomon "
			      "serve TRACE");
	}
	fprintf(r->out, "\n%s\n", line.data);
}

/* ---- the whole report ---- */

static void put_table(struct report *r, enum measure key, unsigned used)
{
	unsigned room = used + LAST_LINES < SCREEN_LINES ?
		SCREEN_LINES - LAST_LINES - used : 0;
	struct query_rows rows;
	size_t shown;

	report_collect(r, key, ROWS, &rows);
	if (rows.nonzero > 0) {
		fprintf(r->out, "\n%s%s%s: %s\n", r->style->title,
			figures_title(key, moment_of(r)), r->style->off,
			figures_meaning(key, moment_of(r)));
		shown = put_rows(r, &rows, room);
		put_left(r, key, rows.nonzero - shown);
	}
	query_rows_free(&rows);
}

void report_brief_text(struct report *r)
{
	struct findings findings;
	struct page page;
	unsigned used;

	findings_find(r, &findings);
	page_begin(&page, r);
	report_title(r);
	fputc('\n', r->out);
	findings_text(r, &findings);
	fputc('\n', r->out);
	report_summary_brief(r);
	report_damages_text(r);
	used = page_end(&page);
	fwrite(page.text, 1, page.size, r->out);
	free(page.text);
	put_table(r, findings_figure(&findings), used + 2);
	put_more(r);
	findings_free(&findings);
	report_nameless(r);
}
