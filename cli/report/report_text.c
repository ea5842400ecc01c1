/*
 * report_text.c: a report as text, within 80 columns. It should need no manual:
 * every section has a sentence about its contents, every number its unit.
 * Called by the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/text/quantity.h"
#include "cli/report/report.h"
#include "cli/report/report_freed.h"
#include "cli/report/report_pages.h"
#include "cli/symbol/names/names.h"

#define DEFAULT_ROWS 10
#define OVERVIEW_ROWS 3		/* in each of several tables */
#define PAGES_SNAPSHOTS 4	/* columns */
#define SITE_FRAMES 6		/* of a stack that is part of a row */
#define PART_MIN 20		/* stacks below 1/20 of a row are left out */
#define FRAME_INDENT 9

struct printer {
	struct report *report;
	struct table shown;	/* context -> section * 65536 + row */
	enum measure key;	/* of the section */
	const struct report_pages *pages;	/* rows by pages kept */
};

/* The moment of the live blocks. */
static enum measure_moment moment_of(const struct report *r)
{
	return query_is_of_moment(r->options->query) ? MEASURE_THEN :
		r->about.being_written ? MEASURE_NOW : MEASURE_AT_END;
}

/* ---- keys of a row ---- */

/* A line for a key's value, and a note on it. */
static void put_value(const struct report *r, const struct query_key *key,
		      const struct query_value *value)
{
	LOCAL_BUFFER name = { 0 }, more = { 0 };

	key->text(value, &name, &more);
	buffer_printable(&name);
	if (name.size > 0 || more.size > 0)
		fprintf(r->out, "%*s%s%s%s%s\n", FRAME_INDENT, "",
			r->style->name, buffer_text(&name),
			r->style->off, buffer_text(&more));
}

/* The lines under a row's measures: what its stacks have in common. The largest
 * stack is loaded. `site`: print a site key, too. */
static void put_heading(const struct report *r, const struct query_rows *rows,
			const struct query_row *row, bool site)
{
	const struct query *query = rows->query;

	for (unsigned i = 0; i < query->key_count; i++) {
		struct query_value value;

		if (query->keys[i]->text != NULL) {
			query_row_value(rows, row, i, &value);
			value.full = r->options->full_names;
			value.width = report_width() - FRAME_INDENT;
			put_value(r, query->keys[i], &value);
		} else if (site && r->stack.count > 0) {
			struct frame frame = r->stack.list[r->stack.site];

			frame.column = 0;	/* stacks differ in it */
			report_frame(r, &frame, FRAME_INDENT);
		}
	}
}

/* ---- rows ---- */

/* The frames of a context from its site outward, unless shown before. */
static void put_once(struct printer *p, uint32_t node, unsigned number,
		     int indent)
{
	struct report *r = p->report;
	uint32_t before = table_get(&p->shown, node);
	bool whole = query_has(r->options->query, QUERY_OF_STACK);
	size_t first;

	report_load(r, node);
	first = whole ? 0 : r->stack.site;
	/* Under a row's heading, stacks may also differ inside the site: in the
	 * run-time functions that it called. */
	if (indent > FRAME_INDENT && first > 0)
		first--;
	if (r->stack.count == 0) {
		fprintf(r->out, "%*s[no stack: %s]\n", indent, "",
			r->stack.stop == GT_STOP_BOTTOM ? "no caller" :
			frames_stop_text(r->stack.stop));
	} else if (before != TABLE_NONE) {
		if (indent == FRAME_INDENT)
			report_frame(r, &r->stack.list[r->stack.site],
				     indent);
		fprintf(r->out, "%*s%s(as in number %u of %s)%s\n", indent,
			"", r->style->dim, before & 0xffff,
			figures_title((enum measure)(before >> 16),
				      moment_of(r)),
			r->style->off);
	} else {
		if (indent > FRAME_INDENT && first > 0)
			fprintf(r->out, "%*s%s(%zu frame%s inside of it)%s\n",
				indent, "", r->style->dim, first,
				report_plural(first), r->style->off);
		report_stack(r, first, whole ? 0 : SITE_FRAMES, indent);
	}
	if (before == TABLE_NONE && number <= 0xffff)
		table_set(&p->shown, node, (uint32_t)p->key << 16 | number);
}

/* A row with several stacks: prints the largest. */
static void put_parts(struct printer *p, const struct query_rows *rows,
		      const struct query_row *row,
		      const struct query_parts *parts, unsigned number)
{
	struct report *r = p->report;
	uint64_t min = figures_value(&row->figures, p->key, r->end_ns) /
		PART_MIN;
	size_t i;

	report_load(r, row->node);
	put_heading(r, rows, row, true);
	for (i = 0; i < parts->count; i++) {
		const struct query_part *part = &parts->list[i];

		if (i > 0 && figures_value(&part->figures, p->key,
					   r->end_ns) <= min)
			break;
		fprintf(r->out, "%*s- ", FRAME_INDENT - 4, "");
		report_figures(r, &part->figures, p->key, false);
		putc('\n', r->out);
		put_once(p, part->node, number, FRAME_INDENT + 4);
	}
	if (i < parts->nonzero)
		fprintf(r->out, "%*s- and %s\n", FRAME_INDENT - 4, "",
			COUNTED(parts->nonzero - i, "more stack"));
}

/* The row's share including all that its functions called, if that is
 * larger. */
static void put_called(const struct printer *p, const struct query_rows *rows,
		       const struct query_row *row)
{
	const struct report *r = p->report;
	uint64_t whole = report_whole(r, p->key), value;
	struct figures sum;

	if (whole == 0 || query_is(rows->query, QUERY_OF_SITE) ||
	    !query_row_called(rows, row, &sum))
		return;
	value = figures_value(&sum, p->key, r->end_ns);
	if (value > query_value_of_row(rows, row))
		fprintf(r->out, "\n%*s%s%s including all that it called%s",
			FRAME_INDENT, "", r->style->dim,
			PERCENT_TEXT(value, whole), r->style->off);
}

static void put_row(struct printer *p, const struct query_rows *rows,
		    const struct query_row *row,
		    const struct query_parts *parts, unsigned number)
{
	struct report *r = p->report;

	fprintf(r->out, "\n%4u. ", number);
	if (p->pages != NULL) {
		report_pages_row(r, p->pages, number - 1);
	} else {
		report_figures(r, &row->figures, p->key,
			       row->contexts > 1 && !rows->exact);
		put_called(p, rows, row);
	}
	if (!rows->grouped && r->profile == NULL)
		fprintf(r->out, "  %s(context %" PRIu32 ")%s", r->style->dim,
			row->node, r->style->off);
	putc('\n', r->out);
	if (!rows->grouped) {
		put_once(p, row->node, number, FRAME_INDENT);
	} else if (parts->nonzero == 1 &&
		   (query_has(rows->query, QUERY_OF_SITE) ||
		    query_has(rows->query, QUERY_OF_STACK))) {
		put_heading(r, rows, row, false);
		put_once(p, parts->list[0].node, number, FRAME_INDENT);
	} else {
		put_parts(p, rows, row, parts, number);
	}
}

/* Prints the first rows, and the option that shows all. */
static void put_rows(struct printer *p, struct query_rows *rows, size_t count,
		     uint64_t few)
{
	struct report *r = p->report;
	size_t shown = report_shown(r, count, few);
	struct query_parts *parts = NULL;

	if (rows->grouped)
		parts = query_rows_parts(rows, shown);
	if (count == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_row(p, rows, &rows->list[i],
			rows->grouped ? &parts[i] : NULL, (unsigned)i + 1);
	if (shown < count)
		fprintf(r->out, "\n      and %s more %s: %s%s%s%s%s --top 0\n",
			COUNT_TEXT(count - shown),
			query_noun(&r->query, count - shown),
			r->options->by ? "--by " : "",
			r->options->by ? r->options->by : "",
			r->options->by ? " " : "",
			p->pages != NULL ? "--pages" : "--sort ",
			p->pages != NULL ? "" : measure_kinds[p->key].name);
	free(parts);
}

static void put_section(struct printer *p, enum measure key)
{
	struct report *r = p->report;
	uint64_t few = r->options->one_key ? DEFAULT_ROWS : OVERVIEW_ROWS;
	struct query_rows rows;

	p->key = key;
	report_collect(r, key, report_top(r, few), &rows);
	fprintf(r->out, "\n%s%s%s: %s\n", r->style->title,
		figures_title(key, moment_of(r)), r->style->off,
		figures_meaning(key, moment_of(r)));
	put_rows(p, &rows, rows.nonzero, few);
	query_rows_free(&rows);
}

static void put_pages(struct report *r)
{
	struct report_pages found;
	struct printer p = {
		.report = r, .key = MEASURE_LIVE, .pages = &found,
	};

	report_pages_find(r, PAGES_SNAPSHOTS, &found);
	report_pages_text(r, &found);
	fprintf(r->out, "\n%sPAGES KEPT%s: each page divided among the rows "
		"with live blocks on it;\n  alone: pages that would be free "
		"without the row's blocks\n", r->style->title, r->style->off);
	put_rows(&p, &found.rows, found.rows.count, DEFAULT_ROWS);
	report_residency_text(r, &found);
	report_pages_free(&found);
	table_free(&p.shown);
}

static void put_sections(struct report *r)
{
	struct printer p = { .report = r };

	for (unsigned i = 0; i < measure_count && !r->options->one_key; i++)
		if (figures_have((enum measure)i, MEASURE_OVERVIEW))
			put_section(&p, (enum measure)i);
	if (r->options->one_key)
		put_section(&p, r->options->query->order);
	else
		report_freed_text(r);
	table_free(&p.shown);
}

void report_body_text(struct report *r)
{
	enum measure key = report_order(r, MEASURE_LIVE);

	if (r->model != NULL)
		report_damages_text(r);
	if (r->options->sizes) {
		report_sizes_text(r);
		report_timeline_text(r);
		report_chains_text(r);
	}
	if (r->options->pages) {
		put_pages(r);
		report_nameless(r);
		return;
	}
	if (r->options->no_rows) {
		if (r->options->timeline)
			report_series_text(r);
		return;
	}
	if (r->options->tree != REPORT_TREE_NONE)
		report_tree_text(r, key);
	else if (r->options->blocks)
		report_blocks_text(r);
	else
		put_sections(r);
	if (r->options->timeline)
		report_series_text(r);
	report_nameless(r);
}

void report_text(struct report *r)
{
	if (!r->options->all && !r->options->chosen) {
		report_brief_text(r);
		return;
	}
	if (r->options->all) {
		report_summary(r);
	} else {
		report_title(r);
		fputc('\n', r->out);
		report_summary_brief(r);
	}
	report_body_text(r);
}
