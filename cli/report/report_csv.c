/*
 * report_csv.c: the rows of a report, or the branches of its tree, as a table.
 * Called by the main thread.
 */
#include "cli/base/text/csv.h"
#include "cli/command/export.h"
#include "cli/report/report.h"
#include "cli/report/report_tree.h"

struct table_writer {
	struct report *report;
	struct csv csv;
	const struct query_rows *rows;
};

static void put_stack(struct table_writer *w, size_t first)
{
	const struct report_stack *stack = &w->report->stack;
	struct buffer text = { 0 };

	export_stack_text(&text, stack->list + first, stack->count - first);
	csv_text(&w->csv, text.data);
	csv_text(&w->csv, frames_stop_text(stack->stop));
	buffer_free(&text);
}

/* What a row is about. */
static void put_subject(struct table_writer *w, const struct query_row *row)
{
	const struct members values = csv_values(&w->csv);
	const struct query *query = w->rows->query;

	for (unsigned i = 0; i < query->key_count; i++) {
		const struct query_key *key = query->keys[i];
		struct query_value value;

		if (key->members != NULL) {
			query_row_value(w->rows, row, i, &value);
			key->members(&value, &values);
			continue;
		}
		report_load(w->report, row->node);
		put_stack(w, key->of == QUERY_OF_SITE ?
			  w->report->stack.site : 0);
	}
}

static void put_heads(struct table_writer *w)
{
	const struct figures nothing = { 0 };
	const struct members names = csv_names(&w->csv);
	const struct query *query = w->rows->query;

	for (unsigned i = 0; i < query->key_count; i++) {
		const struct query_key *key = query->keys[i];
		struct query_value value;

		w->csv.prefix = key->inclusive ? "within_" : NULL;
		if (key->members == NULL) {
			csv_text(&w->csv, "stack");
			csv_text(&w->csv, "stopped");
			continue;
		}
		query_no_value(w->rows, i, &value);
		key->members(&value, &names);
	}
	w->csv.prefix = NULL;
	csv_text(&w->csv, "stacks");
	figures_each(&nothing, 0, names.number, names.owner);
	csv_text(&w->csv, "own_peak_bound");
	csv_end_line(&w->csv);
}

static void put_rows(struct table_writer *w)
{
	const struct members values = csv_values(&w->csv);
	struct report *r = w->report;
	struct query query = r->options->query;
	const struct query_source source = report_source(r);
	struct query_rows rows;

	if (query_has(&query, QUERY_OF_SITE) && r->frames != NULL)
		frames_find_sites(r->frames);
	query.order = r->options->one_key ? query.order : FIGURE_LIVE;
	query.limit = r->options->top_given ? r->options->top : 0;
	query_rows_collect(&query, &source, &rows);
	r->of_contexts = rows.of_contexts;
	w->rows = &rows;
	put_heads(w);
	for (size_t i = 0; i < rows.count; i++) {
		put_subject(w, &rows.list[i]);
		csv_number(&w->csv, rows.list[i].contexts);
		figures_each(&rows.list[i].figures, r->end_ns, values.number,
			     values.owner);
		/* it is the sum of others' */
		csv_text(&w->csv, rows.list[i].contexts > 1 && !rows.exact ?
			 "true" : "false");
		csv_end_line(&w->csv);
	}
	query_rows_free(&rows);
}

void report_csv(struct report *r)
{
	struct table_writer w = { .report = r, .csv.out = r->out };

	if (r->options->tree != REPORT_TREE_NONE)
		report_tree_csv(&w.csv, r, r->options->one_key ?
				r->options->query.order : FIGURE_LIVE);
	else
		put_rows(&w);
	csv_free(&w.csv);
}
