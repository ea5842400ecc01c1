/*
 * report_json.c: a report as one JSON object. Keys are only ever added; tools
 * rely on the names. Called by the main thread.
 */
#include "cli/base/progress.h"
#include "cli/base/text/json.h"
#include "cli/report/report.h"
#include "cli/report/report_blocks.h"
#include "cli/report/report_damages.h"
#include "cli/report/report_detail.h"
#include "cli/report/report_freed.h"
#include "cli/report/report_rows.h"
#include "cli/report/report_tree.h"

/* Rows where --top does not say: more than people look at, and few enough for
 * programs with a million contexts. */
#define DEFAULT_ROWS 1000

static void put_thread(struct json *json, const struct model *model,
		       uint64_t number)
{
	const struct thread *thread;

	if (number >= model->threads.count)
		number = 0;
	thread = &model->threads.list[number];
	json_uint(json, "tid", thread->tid);
	json_string(json, "thread", threads_name(thread));
	json_uint(json, "start_ns", model_since_start_ns(model,
						threads_start(thread)));
	if (thread->end != 0)
		json_uint(json, "end_ns",
			  model_since_start_ns(model, thread->end));
}

/* Of a row whose stack is loaded. */
static void put_name(struct json *json, const struct report *r)
{
	static const struct frame nothing;
	const struct frame *site = r->stack.count == 0 ? &nothing :
		&r->stack.list[r->stack.site];

	if (r->options->by == REPORT_BY_FUNCTION) {
		json_string(json, "function", site->function);
		json_bool(json, "named", site->function && !site->nameless);
		if (site->nameless)
			json_uint(json, "module_offset", site->start);
	}
	if (r->options->by == REPORT_BY_FILE)
		json_string(json, "file", site->file);
	json_string(json, "library", site->library);
}

/* What the row is about. */
static void put_subject(struct json *json, struct report *r,
			const struct row *row)
{
	switch (r->options->by) {
	case REPORT_BY_THREAD:
		put_thread(json, r->model, row->group);
		break;
	case REPORT_BY_SIZE:
		if (row->group != UINT32_MAX)
			json_uint(json, "size", row->group);
		break;
	case REPORT_BY_FUNCTION:
	case REPORT_BY_FILE:
	case REPORT_BY_LIBRARY:
		report_load(r, row->node);
		put_name(json, r);
		break;
	case REPORT_BY_SITE:
		/* Inside the site there is nothing that its stacks share. */
		report_load(r, row->node);
		report_json_stack(json, &r->stack, r->stack.site, r->once);
		break;
	default:
		if (r->profile == NULL)
			json_uint(json, "context", row->node);
		report_load(r, row->node);
		report_json_stack(json, &r->stack, 0, r->once);
		break;
	}
}

/* With all that its functions called. */
static void put_inclusive(struct json *json, const struct report *r,
			  const struct report_rows *rows,
			  const struct row *row)
{
	struct figures sum = *profile_group_inclusive(
		r->profile, &rows->groups, (uint32_t)row->group, 0);
	bool own = sum.count == row->figures.count;

	if (own) {	/* it called nothing that allocates */
		sum.own_peak_bytes = row->figures.own_peak_bytes;
		sum.own_peak_blocks = row->figures.own_peak_blocks;
		sum.own_peak_ns = row->figures.own_peak_ns;
	}
	json_object(json, "inclusive");
	report_json_figures(json, &sum, r->end_ns);
	report_json_bound(json, !own || (row->contexts > 1 && !rows->exact));
	json_end_object(json);
}

static void put_row(struct json *json, struct report *r,
		    const struct report_rows *rows, size_t number,
		    const struct report_detail *detail)
{
	const struct row *row = &rows->rows.list[number];

	json_object(json, NULL);
	report_json_figures(json, &row->figures, r->end_ns);
	if (rows->grouped)
		json_uint(json, "stacks", row->contexts);
	report_json_bound(json, row->contexts > 1 && !rows->exact);
	put_subject(json, r, row);
	if (rows->grouped && r->profile != NULL)
		put_inclusive(json, r, rows, row);
	report_detail_row(json, detail, number);
	json_end_object(json);
}

static void put_rows(struct json *json, struct report *r, enum figure key)
{
	uint64_t top = r->options->top_given ? r->options->top : DEFAULT_ROWS;
	struct report_detail detail;
	struct report_rows rows;

	if (r->options->by == REPORT_BY_SITE && r->profile == NULL)
		frames_find_sites(r->frames);
	report_rows_collect(r, key, top, &rows);
	report_detail_begin(&detail, r, &rows);
	json_array(json, "rows");
	progress_begin("looking up symbols", rows.rows.count);
	for (size_t i = 0; i < rows.rows.count && (top == 0 || i < top); i++) {
		put_row(json, r, &rows, i, &detail);
		progress_update(i);
	}
	progress_end();
	json_end_array(json);
	report_detail_end(&detail);
	report_rows_free(&rows);
}

void report_body_json(struct json *json, struct report *r)
{
	enum figure key = r->options->one_key ? r->options->key : FIGURE_LIVE;
	struct frame_table once = { 0 };

	if (r->model != NULL)
		report_damages_json(json, r);
	if (r->options->frame_table)
		r->once = &once;
	if (r->options->sizes)
		report_sizes_json(json, r);
	if (r->options->sizes && r->model != NULL) {
		report_chains_json(json, r);
		report_timeline_json(json, r);
	}
	if (r->options->tree != REPORT_TREE_NONE)
		report_tree_json(json, r, key);
	else if (r->options->by == REPORT_BY_BLOCK)
		report_blocks_json(json, r);
	else
		put_rows(json, r, key);
	report_freed_json(json, r);
	if (r->once != NULL)
		frame_table_json(json, r->once);
	r->once = NULL;
	frame_table_free(&once);
}

void report_json(struct report *r)
{
	struct json json = { .out = r->out };

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	report_json_summary(&json, r);
	report_body_json(&json, r);
	json_end_object(&json);
}
