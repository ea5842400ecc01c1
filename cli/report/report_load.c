/*
 * report_load.c: the stacks of rows, and what rows are made of. Called by the
 * main thread.
 */
#include <string.h>

#include "cli/base/grow.h"
#include "cli/report/report.h"

struct query_source report_source(const struct report *r)
{
	return (struct query_source){
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

/* The frames of a profile's node, outward. */
static void load_node(struct report *r, uint32_t node)
{
	const struct profile *profile = r->profile;
	size_t count = 0;

	r->stack.stop = GT_STOP_BOTTOM;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_frame *from =
			&profile->frames[profile->nodes[node].frame];

		if (from->stop != GT_STOP_BOTTOM) {
			r->stack.stop = from->stop;
			continue;
		}
		GROW(r->scratch, count, r->scratch_capacity);
		profile_show_frame(from, &r->scratch[count]);
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
	if (r->profile != NULL && !r->of_contexts)
		load_node(r, node);
	else
		report_load_context(r, node);
}
