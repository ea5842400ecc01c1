/*
 * report_csv.c: the rows of a report, or the branches of its tree, as CSV.
 * Called by the main thread.
 */
#include "cli/base/text/csv.h"
#include "cli/command/export.h"
#include "cli/report/report.h"

struct table_writer {
	struct report *report;
	struct csv csv;
	const struct query_rows *rows;
};

/* Whether the site gets fields of its own: not if keys contain it already. */
static bool has_site(const struct table_writer *w)
{
	return !query_has(w->rows->query, QUERY_OF_FRAME) ||
	       query_inclusive(w->rows->query) != NULL;
}

/* Only contexts of a model have numbers. */
static bool has_context(const struct table_writer *w,
			const struct query_key *key)
{
	return key->of == QUERY_OF_STACK && w->rows->of_contexts;
}

static void put_stack(struct table_writer *w, const struct query_key *key,
		      uint32_t node)
{
	const struct report_stack *stack = &w->report->stack;
	size_t first;

	report_load(w->report, node);
	first = key->of == QUERY_OF_SITE ? stack->site : 0;
	if (has_context(w, key))
		csv_number(&w->csv, node);
	export_stack_fields(&w->csv, stack->list + first, stack->count - first,
			    stack->site - first, stack->stop, has_site(w));
}

/* The values of a row's keys. */
static void put_subject(struct table_writer *w, const struct query_row *row)
{
	const struct members values = csv_values(&w->csv);
	const struct query *query = w->rows->query;

	for (unsigned i = 0; i < query->key_count; i++) {
		const struct query_key *key = query->keys[i];
		struct query_value value;

		if (key->members == NULL) {
			put_stack(w, key, row->node);
			continue;
		}
		query_row_value(w->rows, row, i, &value);
		key->members(&value, &values);
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
			if (has_context(w, key))
				csv_text(&w->csv, "context");
			export_stack_heads(&w->csv, has_site(w));
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
	struct query_rows rows;

	report_collect(r, report_order(r, MEASURE_LIVE), report_top(r, 0),
		       &rows);
	w->rows = &rows;
	put_heads(w);
	for (size_t i = 0; i < rows.count; i++) {
		put_subject(w, &rows.list[i]);
		csv_number(&w->csv, rows.list[i].contexts);
		figures_each(&rows.list[i].figures, r->end_ns, values.number,
			     values.owner);
		/* the row's own peak is a sum of others' */
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
		report_tree_csv(&w.csv, r, report_order(r, MEASURE_LIVE));
	else
		put_rows(&w);
	csv_free(&w.csv);
}
