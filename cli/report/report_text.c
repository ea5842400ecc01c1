/*
 * report_text.c: a report for people, within 80 columns. It should need no
 * manual: every section says in a sentence what it shows, every figure has
 * its unit. Called by the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/report/report.h"
#include "cli/report/report_damages.h"
#include "cli/report/report_blocks.h"
#include "cli/report/report_chains.h"
#include "cli/report/report_freed.h"
#include "cli/report/report_nameless.h"
#include "cli/report/report_rows.h"
#include "cli/report/report_timeline.h"
#include "cli/report/report_tree.h"
#include "cli/symbol/names/names.h"

#define DEFAULT_ROWS 10
#define OVERVIEW_ROWS 3		/* of each table, where there are several */
#define SITE_FRAMES 6		/* of a stack that is part of a row */
#define PART_MIN 20		/* …th of the row: smaller ones are left out */
#define FRAME_INDENT 9

struct printer {
	struct report *report;
	struct table shown;	/* context -> section * 65536 + row */
	enum figure key;	/* of the section */
};

/* Which blocks are live. */
static enum figure_moment moment_of(const struct report *r)
{
	return r->options->moment ? FIGURE_THEN :
		r->about.being_written ? FIGURE_NOW : FIGURE_AT_END;
}

/* ---- what a row is about ---- */

static void put_thread(const struct report *r, uint64_t number)
{
	const struct thread *thread;
	struct buffer name = { 0 };
	char a[QUANTITY_TEXT];

	if (number == 0 || number >= r->model->threads.count) {
		fprintf(r->out, "%*sno thread that is known\n", FRAME_INDENT,
			"");
		return;
	}
	thread = &r->model->threads.list[number];
	buffer_string(&name, threads_name(thread));
	buffer_printable(&name);
	fprintf(r->out, "%*s%sthread %" PRIu32 " %s%s", FRAME_INDENT, "",
		r->style->name, thread->tid, name.size ? name.data : "",
		r->style->off);
	fprintf(r->out, "%s, from %s", thread->flags & GT_THREAD_MAIN ?
		", the first" : "", quantity_time(a,
			model_since_start_ns(r->model,
					     threads_start(thread))));
	if (thread->end != 0)
		fprintf(r->out, " to %s", quantity_time(a,
			model_since_start_ns(r->model, thread->end)));
	putc('\n', r->out);
	buffer_free(&name);
}

static void put_size(const struct report *r, uint64_t size)
{
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];

	fprintf(r->out, "%*s%s", FRAME_INDENT, "", r->style->name);
	if (size == UINT32_MAX)
		fprintf(r->out, "of 4 GiB or more, or of sizes that are not "
			"known");
	else
		fprintf(r->out, "of %s byte%s each", quantity_count(a, size),
			report_plural(size));
	if (size >= 1024 && size < UINT32_MAX)
		fprintf(r->out, " (%s)", quantity_size(b, (int64_t)size));
	fprintf(r->out, "%s\n", r->style->off);
}

/* The function, file or library of a row, whose stack is loaded. */
static void put_name(const struct report *r)
{
	const struct frame *site = &r->stack.list[r->stack.site];
	struct buffer name = { 0 };

	if (r->stack.count == 0)
		return;
	if (r->options->by == REPORT_BY_FUNCTION && site->function == NULL)
		buffer_string(&name, "?? in no file");
	else if (r->options->by == REPORT_BY_FUNCTION &&
		 r->options->full_names)
		buffer_string(&name, site->function);
	else if (r->options->by == REPORT_BY_FUNCTION && site->nameless)
		fit_middle(&name, site->function,
			   REPORT_WIDTH - FRAME_INDENT);
	else if (r->options->by == REPORT_BY_FUNCTION)
		names_brief(&name, site->function,
			    REPORT_WIDTH - FRAME_INDENT);
	else
		fit_path(&name, r->options->by == REPORT_BY_FILE &&
			 site->file != NULL ? site->file : site->library ?
			 site->library : "code of no file",
			 r->options->full_names ? SIZE_MAX :
			 REPORT_WIDTH - FRAME_INDENT);
	buffer_printable(&name);
	fprintf(r->out, "%*s%s%s%s\n", FRAME_INDENT, "", r->style->name,
		name.data, r->style->off);
	buffer_free(&name);
}

/* The line under a row's figures, where its stacks have one in common. */
static void put_heading(const struct report *r, const struct row *row)
{
	switch (r->options->by) {
	case REPORT_BY_FUNCTION:
	case REPORT_BY_FILE:
	case REPORT_BY_LIBRARY:
		put_name(r);
		break;
	case REPORT_BY_THREAD:
		put_thread(r, row->group);
		break;
	case REPORT_BY_SIZE:
		put_size(r, row->group);
		break;
	default:
		if (r->stack.count > 0) {
			struct frame site = r->stack.list[r->stack.site];

			site.column = 0;	/* its stacks have several */
			report_frame(r, &site, FRAME_INDENT);
		}
		break;
	}
}

/* ---- rows ---- */

/* The frames of a context from its site outward, unless shown before. */
static void put_once(struct printer *p, uint32_t node, unsigned number,
		     int indent)
{
	struct report *r = p->report;
	uint32_t before = table_get(&p->shown, node);
	bool whole = r->options->by == REPORT_BY_STACK;
	size_t first;

	report_load(r, node);
	first = whole ? 0 : r->stack.site;
	/* Under a row's heading its stacks differ inside of the site, too: in
	 * what the language's library did for it. */
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
			figures_title((enum figure)(before >> 16),
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

/* A row that consists of stacks: the largest of them. */
static void put_parts(struct printer *p, const struct row *row,
		      const struct report_parts *parts, unsigned number)
{
	struct report *r = p->report;
	uint64_t least = figures_value(&row->figures, p->key, r->end_ns) /
		PART_MIN;
	char more[QUANTITY_TEXT];
	size_t i;

	report_load(r, row->node);
	put_heading(r, row);
	for (i = 0; i < parts->count; i++) {
		const struct report_part *part = &parts->list[i];

		if (i > 0 && figures_value(&part->figures, p->key,
					   r->end_ns) <= least)
			break;
		fprintf(r->out, "%*s- ", FRAME_INDENT - 4, "");
		report_figures(r, &part->figures, p->key, false);
		putc('\n', r->out);
		put_once(p, part->node, number, FRAME_INDENT + 4);
	}
	if (i < parts->nonzero)
		fprintf(r->out, "%*s- and %s more stack%s\n",
			FRAME_INDENT - 4, "",
			quantity_count(more, parts->nonzero - i),
			report_plural(parts->nonzero - i));
}

/* What a row comes to with all that its functions called, if that is more. */
static void put_inclusive(const struct printer *p, const struct figures *own,
			  const struct figures *inclusive)
{
	const struct report *r = p->report;
	uint64_t value = figures_value(inclusive, p->key, r->end_ns);
	uint64_t whole = report_whole(r, p->key);
	char a[QUANTITY_TEXT];

	if (whole > 0 && r->options->by != REPORT_BY_SITE &&
	    value > figures_value(own, p->key, r->end_ns))
		fprintf(r->out, "\n%*s%s%s with all that it called%s",
			FRAME_INDENT, "", r->style->dim,
			quantity_percent(a, value, whole), r->style->off);
}

static void put_row(struct printer *p, const struct report_rows *rows,
		    const struct row *row, const struct report_parts *parts,
		    unsigned number)
{
	struct report *r = p->report;

	fprintf(r->out, "\n%4u. ", number);
	report_figures(r, &row->figures, p->key,
		       row->contexts > 1 && !rows->exact);
	if (rows->grouped && r->profile != NULL)
		put_inclusive(p, &row->figures, profile_group_inclusive(
				r->profile, &rows->groups,
				(uint32_t)row->group, 0));
	else if (r->options->by == REPORT_BY_STACK && r->profile == NULL)
		fprintf(r->out, "  %s(context %" PRIu32 ")%s", r->style->dim,
			row->node, r->style->off);
	putc('\n', r->out);
	if (!rows->grouped)
		put_once(p, row->node, number, FRAME_INDENT);
	else if (r->options->by == REPORT_BY_SITE && parts->nonzero == 1)
		put_once(p, parts->list[0].node, number, FRAME_INDENT);
	else
		put_parts(p, row, parts, number);
}

static void put_section(struct printer *p, enum figure key)
{
	struct report *r = p->report;
	uint64_t top = r->options->top_given ? r->options->top :
		r->options->one_key ? DEFAULT_ROWS : OVERVIEW_ROWS;
	struct report_parts *parts = NULL;
	char more[QUANTITY_TEXT];
	struct report_rows rows;
	size_t shown;

	p->key = key;
	report_rows_collect(r, key, top, &rows);
	shown = top != 0 && top < rows.nonzero ? top : rows.nonzero;
	if (rows.grouped)
		parts = report_rows_parts(r, &rows, shown);
	fprintf(r->out, "\n%s%s%s: %s\n", r->style->title,
		figures_title(key, moment_of(r)), r->style->off,
		figures_meaning(key, moment_of(r)));
	if (rows.nonzero == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_row(p, &rows, &rows.rows.list[i],
			rows.grouped ? &parts[i] : NULL, (unsigned)i + 1);
	if (shown < rows.nonzero)
		fprintf(r->out, "\n      and %s more %s: --sort %s --top 0\n",
			quantity_count(more, rows.nonzero - shown),
			report_rows_name(r, rows.nonzero - shown),
			figure_kinds[key].name);
	free(parts);
	report_rows_free(&rows);
}

static void put_sections(struct report *r)
{
	struct printer p = { .report = r };

	if (r->options->by == REPORT_BY_SITE && r->profile == NULL)
		frames_find_sites(r->frames);
	for (unsigned i = 0; i < figure_count && !r->options->one_key; i++)
		if (figures_have((enum figure)i, FIGURE_OVERVIEW))
			put_section(&p, (enum figure)i);
	if (r->options->one_key)
		put_section(&p, r->options->key);
	else
		report_freed_text(r);
	table_free(&p.shown);
}

void report_body_text(struct report *r)
{
	enum figure key = r->options->one_key ? r->options->key : FIGURE_LIVE;

	if (r->model != NULL)
		report_damages_text(r);
	if (r->options->sizes) {
		report_sizes_text(r);
		report_timeline_text(r);
		report_chains_text(r);
	}
	if (r->options->no_rows)
		return;
	if (r->options->tree != REPORT_TREE_NONE)
		report_tree_text(r, key);
	else if (r->options->by == REPORT_BY_BLOCK)
		report_blocks_text(r);
	else
		put_sections(r);
	report_nameless(r);
}

void report_text(struct report *r)
{
	report_summary(r);
	report_body_text(r);
}
