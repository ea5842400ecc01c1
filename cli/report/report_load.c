/*
 * report_load.c: loads stacks of rows, and collects rows. Called by the main
 * thread.
 */

#include "cli/base/grow.h"
#include "cli/report/report.h"

void report_source(struct report *r, enum measure order, uint64_t limit)
{
	r->query = *r->options->query;
	r->query.order = order;
	r->query.limit = limit;
	r->source = (struct query_source){
		.model = r->model,
		.frames = r->frames,
		.profile = r->profile,
		.trace = r->model ? r->about.trace : NULL,
		.end_ns = r->end_ns,
		.processes = r->processes,
		.keep = r->keep,
		.keeper = r->keeper,
	};
}

void report_collect_query(struct report *r, struct query_rows *rows)
{
	if (query_has(&r->query, QUERY_OF_SITE) && r->frames != NULL)
		frames_find_sites(r->frames);
	query_rows_collect(&r->query, &r->source, rows);
	r->of_contexts = rows->of_contexts;
}

void report_collect(struct report *r, enum measure order, uint64_t limit,
		    struct query_rows *rows)
{
	report_source(r, order, limit);
	report_collect_query(r, rows);
}

enum measure report_order(const struct report *r, enum measure other)
{
	return r->options->one_key ? r->options->query->order : other;
}

uint64_t report_top(const struct report *r, uint64_t few)
{
	return r->options->top_given ? r->options->top : few;
}

size_t report_shown(const struct report *r, size_t count, uint64_t few)
{
	uint64_t top = report_top(r, few);

	return top != 0 && top < count ? (size_t)top : count;
}

void report_load_context(struct report *r, uint32_t node)
{
	frames_of(r->frames, node);
	r->stack = report_stack_of(r->frames);
}

void report_load(struct report *r, uint32_t node)
{
	if (r->profile == NULL || r->of_contexts) {
		report_load_context(r, node);
		return;
	}
	r->stack.count = profile_frames_of(r->profile, node, &r->scratch,
					   &r->scratch_capacity,
					   &r->stack.stop);
	r->stack.list = r->scratch;
	r->stack.site = frames_site(r->scratch, r->stack.count);
}
