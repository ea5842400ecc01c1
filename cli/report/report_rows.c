/*
 * report_rows.c: see report_rows.h. Called by the main thread.
 *
 *  I1  Each stack that counts (report->keep) is in exactly one row, so that
 *      the rows of a sum add up to report->sum.
 */
#include "cli/report/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/report/report_peaks.h"

const char *const report_by_names[REPORT_BYS] = {
	[REPORT_BY_DEFAULT] = "",
	[REPORT_BY_STACK] = "stack",
	[REPORT_BY_SITE] = "site",
	[REPORT_BY_FUNCTION] = "function",
	[REPORT_BY_FILE] = "file",
	[REPORT_BY_LIBRARY] = "library",
	[REPORT_BY_THREAD] = "thread",
	[REPORT_BY_SIZE] = "size",
	[REPORT_BY_BLOCK] = "block",
};

static uint64_t group_site(void *owner, const struct context_cost *cost)
{
	return frames_site_key(owner, cost->node);
}

static uint64_t group_part(void *owner, const struct context_cost *cost)
{
	(void)owner;
	return cost->part;
}

report_group *report_rows_grouping(const struct report *r)
{
	switch (r->options->by) {
	case REPORT_BY_SITE:
		return group_site;
	case REPORT_BY_THREAD:
	case REPORT_BY_SIZE:
		return group_part;
	default:
		return NULL;
	}
}

static void collect_costs(const struct report *r, enum figure key,
			  uint64_t top, struct report_rows *rows)
{
	const struct rows_query query = {
		.key = key,
		.group = report_rows_grouping(r),
		.owner = r->frames,
		.keep = r->keep,
		.keeper = r->keeper,
		.limit = top,
	};

	rows_collect(r->model, &query, &rows->rows);
	rows->grouped = query.group != NULL;
}

static enum profile_by profile_by(const struct report *r)
{
	switch (r->options->by) {
	case REPORT_BY_SITE:
		return PROFILE_BY_SITE;
	case REPORT_BY_FUNCTION:
		return PROFILE_BY_FUNCTION;
	case REPORT_BY_FILE:
		return PROFILE_BY_FILE;
	case REPORT_BY_LIBRARY:
		return PROFILE_BY_LIBRARY;
	default:
		return PROFILE_BY_STACK;
	}
}

static void collect_groups(const struct report *r, enum figure key,
			   struct report_rows *rows)
{
	struct profile_groups *groups = &rows->groups;

	profile_groups(r->profile, profile_by(r), key, groups);
	rows->grouped = r->options->by != REPORT_BY_STACK;
	rows->rows.key = key;
	rows->rows.end_ns = r->end_ns;
	rows->rows.list = grow_zeroed(groups->count, sizeof(struct row));
	for (size_t i = 0; i < groups->count; i++) {
		struct row *row = &rows->rows.list[rows->rows.count];

		if (groups->list[i].contexts == 0)
			continue;	/* its functions only call others */
		row->figures = *profile_group_self(r->profile, groups, i, 0);
		row->node = groups->list[i].node;
		row->contexts = (uint32_t)groups->list[i].contexts;
		row->group = i;
		rows->rows.count++;
		rows->rows.nonzero += figures_any(&row->figures, key,
						  r->end_ns);
	}
}

/* Own peaks are shown, or decide about the order. */
static bool wants_peaks(const struct report *r, const struct report_rows *rows,
			enum figure key)
{
	return rows->grouped && (key == FIGURE_OWN_PEAK ||
				 r->options->all_figures);
}

void report_rows_collect(const struct report *r, enum figure key,
			 uint64_t top, struct report_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	if (r->profile != NULL)
		collect_groups(r, key, rows);
	else
		collect_costs(r, key, key == FIGURE_OWN_PEAK &&
			      report_rows_grouping(r) ? 0 : top, rows);
	if (key != FIGURE_OWN_PEAK)
		rows_sort(&rows->rows);
	/* Only of those that are wanted, where that is known before. */
	if (key != FIGURE_OWN_PEAK && top != 0 && top < rows->rows.count)
		rows->rows.count = top;
	if (wants_peaks(r, rows, key))
		report_peaks(r, rows);
	if (key == FIGURE_OWN_PEAK)
		rows_sort(&rows->rows);
	rows->nonzero = rows->rows.nonzero;
}

void report_rows_free(struct report_rows *rows)
{
	free(rows->rows.list);
	profile_groups_free(&rows->groups);
}

/* Of equal ones, the first that was made comes first. */
static void offer(struct report_parts *parts, const struct report_part *part,
		  enum figure key, uint64_t end_ns)
{
	uint64_t value = figures_value(&part->figures, key, end_ns);
	size_t at = parts->count;

	if (!figures_any(&part->figures, key, end_ns))
		return;
	parts->nonzero++;
	while (at > 0 && figures_value(&parts->list[at - 1].figures, key,
				       end_ns) < value)
		at--;
	if (at == REPORT_PARTS)
		return;
	if (parts->count < REPORT_PARTS)
		parts->count++;
	memmove(&parts->list[at + 1], &parts->list[at],
		(parts->count - at - 1) * sizeof(*parts->list));
	parts->list[at] = *part;
}

static void parts_of_costs(const struct report *r, enum figure key,
			   const struct table *row_of,
			   struct report_parts *parts)
{
	report_group *group = report_rows_grouping(r);
	const struct contexts *contexts = &r->model->contexts;

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		uint32_t row = table_get(row_of, group(r->frames, cost));
		struct report_part part = { .node = cost->node };

		if (row == TABLE_NONE)
			continue;
		model_figures(r->model, cost, &part.figures);
		if (r->keep != NULL &&
		    !r->keep(r->keeper, cost->node, &part.figures))
			continue;
		offer(&parts[row], &part, key, r->end_ns);
	}
}

static void parts_of_selves(const struct report *r, enum figure key,
			    const struct profile_groups *groups,
			    const struct table *row_of,
			    struct report_parts *parts)
{
	for (size_t i = 0; i < r->profile->self_count; i++) {
		const struct profile_self *self = &r->profile->selves[i];
		uint32_t row = table_get(row_of, groups->of_self[i]);
		const struct report_part part = { self->figures, self->node };

		if (row != TABLE_NONE)
			offer(&parts[row], &part, key, r->end_ns);
	}
}

struct report_parts *report_rows_parts(const struct report *r,
				       const struct report_rows *rows,
				       size_t shown)
{
	struct report_parts *parts = grow_zeroed(shown, sizeof(*parts));
	struct table row_of = { 0 };

	for (size_t i = 0; i < shown; i++)
		table_set(&row_of, rows->rows.list[i].group, (uint32_t)i);
	if (r->profile != NULL)
		parts_of_selves(r, rows->rows.key, &rows->groups, &row_of,
				parts);
	else
		parts_of_costs(r, rows->rows.key, &row_of, parts);
	table_free(&row_of);
	return parts;
}

const char *report_rows_name(const struct report *r, uint64_t count)
{
	static const char *const names[REPORT_BYS][2] = {
		[REPORT_BY_STACK] = { "stack", "stacks" },
		[REPORT_BY_SITE] = { "site", "sites" },
		[REPORT_BY_FUNCTION] = { "function", "functions" },
		[REPORT_BY_FILE] = { "file", "files" },
		[REPORT_BY_LIBRARY] = { "library", "libraries" },
		[REPORT_BY_THREAD] = { "thread", "threads" },
		[REPORT_BY_SIZE] = { "size", "sizes" },
		[REPORT_BY_BLOCK] = { "block", "blocks" },
	};

	return names[r->options->by][count != 1];
}


/* The frames of a profile's node, outward. */
static void load_node(struct report *r, uint32_t node)
{
	const struct profile *profile = r->profile;
	size_t count = 0;

	r->stack.stop = GT_STOP_BOTTOM;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_frame *from =
			&profile->frames[profile->nodes[node].frame];
		struct frame *frame;

		if (from->stop != GT_STOP_BOTTOM) {
			r->stack.stop = from->stop;
			continue;
		}
		GROW(r->scratch, count, r->scratch_capacity);
		frame = &r->scratch[count];
		memset(frame, 0, sizeof(*frame));
		frame->function = from->function;
		frame->file = from->file;
		frame->library = from->library;
		frame->module_offset = frame->start = from->offset;
		frame->line = from->line;
		frame->column = from->column;
		frame->inlined = from->inlined;
		frame->nameless = from->nameless;
		frame->glue = from->glue;
		frame->wraps = from->wraps;
		count++;
	}
	r->stack.site = frames_site(r->scratch, count);
	r->stack.list = r->scratch;
	r->stack.count = count;
}

void report_load_context(struct report *r, uint32_t node)
{
	frames_of(r->frames, node);
	r->stack.list = r->frames->list;
	r->stack.count = r->frames->count;
	r->stack.site = r->frames->site;
	r->stack.stop = r->frames->stop;
}

void report_load(struct report *r, uint32_t node)
{
	if (r->profile != NULL)
		load_node(r, node);
	else
		report_load_context(r, node);
}
