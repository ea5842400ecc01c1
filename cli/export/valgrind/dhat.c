/*
 * dhat.c: the format of Valgrind's DHAT, version 2 of its JSON, for
 * dh_view.html and compatible viewers.
 *
 *	pps	a "program point" for each stack: its total allocations,
 *		lifetimes, own peak, live blocks at the global peak
 *		("t-gmax") and at the end
 *	ftbl	table of frames, "[root]" first; stacks hold their numbers
 *
 * Readers reject duplicate stacks; in a profile, each stack is a node with one
 * self. Times are in microseconds, as in dhat-rs: sums of nanoseconds over
 * millions of blocks would overflow the readers' numbers.
 */
#include "cli/export/exporters.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/export/valgrind.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"

#define VERSION 2
#define UNIT "µs"
#define UNIT_MILLIONS "s"
#define UNIT_NS 1000
#define SHORT_LIVED 10		/* units; the viewer's threshold */

/* The blocks of a stack that were never freed. */
struct rest {
	double age_ns;		/* sum of ages */
	uint64_t blocks;
};

struct writing {
	struct export *export;
	const struct profile *profile;
	uint64_t end_ns;
	struct rest *rests;	/* by self */
	struct group_peak *peaks;	/* by self; NULL: use the sums */
	struct json json;
};

static uint32_t self_of(void *owner, uint32_t node, uint32_t part)
{
	const struct writing *w = owner;
	uint32_t cost = contexts_find_cost(model_contexts(w->export->model),
					   node, part);
	uint32_t self = cost == CONTEXT_NO_COST ? PROFILE_NONE :
		w->profile->self_of_cost[cost];

	return self == PROFILE_NONE ? MODEL_NO_GROUP : self;
}

/* If several contexts have the same frames, their own peaks are at different
 * times, so a second pass determines the common one. */
static void find_peaks(struct writing *w)
{
	const struct model *model = w->export->model;
	const struct profile *profile = w->profile;
	bool needed = false;

	for (size_t i = 0; i < profile->self_count; i++)
		needed |= profile->self_costs[i].contexts > 1;
	if (!needed || model_is_being_written(model) ||
	    model_has_left_out(model) ||
	    !model_can_be_read_again(w->export->trace, NULL))
		return;
	w->peaks = grow_zeroed(profile->self_count, sizeof(*w->peaks));
	if (model_group_peaks(model, w->export->trace, self_of, w, w->peaks,
			      profile->self_count) != EXIT_NOTHING)
		return;
	free(w->peaks);
	w->peaks = NULL;
}

/* Blocks never freed have lifetimes until the end, as in DHAT. */
static void find_rests(struct writing *w)
{
	const struct model *model = w->export->model;
	const struct block *block;
	uint64_t at = 0;

	w->rests = grow_zeroed(w->profile->self_count, sizeof(*w->rests));
	while ((block = model_next_block(model, &at)) != NULL) {
		uint32_t self = w->profile->self_of_cost[block->cost];
		uint64_t alloc_ns = model_since_start_ns(model, block->alloc);

		if (self == PROFILE_NONE)
			continue;
		w->rests[self].blocks++;
		if (alloc_ns < w->end_ns)
			w->rests[self].age_ns += (double)(w->end_ns - alloc_ns);
	}
}

/* In a sample, each recorded block stands for others. */
static uint64_t lifetimes(const struct writing *w, uint32_t number)
{
	const struct figures *figures = &w->profile->self_costs[number].figures;
	const struct rest *rest = &w->rests[number];
	double sum = figures->lifetime_ns;

	if (rest->blocks > 0)
		sum += rest->age_ns / (double)rest->blocks *
			(double)figures->live_blocks;
	sum = sum / UNIT_NS + 0.5;
	return sum < (double)INT64_MAX ? (uint64_t)sum : INT64_MAX;
}

static void write_frames(struct writing *w, uint32_t node)
{
	json_array(&w->json, "fs");
	for (; node != PROFILE_ROOT; node = w->profile->nodes[node].parent)
		json_uint(&w->json, NULL,
			  w->profile->nodes[node].frame + UINT64_C(1));
	json_end_array(&w->json);
}

static void write_point(struct writing *w, uint32_t number)
{
	const struct profile_self *self = &w->profile->self_costs[number];
	const struct figures *figures = &self->figures;
	struct json *json = &w->json;

	if (figures->count == 0 && figures->live_blocks == 0)
		return;
	json_object(json, NULL);
	json_uint(json, "tb", figures->total_bytes);
	json_uint(json, "tbk", figures->count);
	json_uint(json, "tl", lifetimes(w, number));
	json_uint(json, "mb", w->peaks ? w->peaks[number].bytes :
		  figures->own_peak_bytes);
	json_uint(json, "mbk", w->peaks ? w->peaks[number].blocks :
		  figures->own_peak_blocks);
	json_uint(json, "gb", figures->peak_bytes);
	json_uint(json, "gbk", figures->peak_blocks);
	json_uint(json, "eb", figures->live_bytes);
	json_uint(json, "ebk", figures->live_blocks);
	write_frames(w, self->node);
	json_end_object(json);
}

static void write_head(struct writing *w)
{
	const struct model *model = w->export->model;
	struct json *json = &w->json;
	LOCAL_BUFFER text = { 0 };

	json_uint(json, "dhatFileVersion", VERSION);
	json_string(json, "mode", "heap");
	json_string(json, "verb", "Allocated");
	json_bool(json, "bklt", true);
	json_bool(json, "bkacc", false);
	json_string(json, "tu", UNIT);
	json_string(json, "Mtu", UNIT_MILLIONS);
	json_uint(json, "tuth", SHORT_LIVED);
	valgrind_command(&text, w->export);
	json_string(json, "cmd", text.data);
	json_uint(json, "pid", model_number(model, GT_INFO, "pid", 0));
	valgrind_about(&text, w->export);
	json_string(json, "creator", text.data);
	json_uint(json, "tg", model_since_start_ns(model,
		  model_peak_stamp(model)) / UNIT_NS);
	json_uint(json, "te", w->end_ns / UNIT_NS);
}

static void write_all(struct writing *w)
{
	struct json *json = &w->json;
	LOCAL_BUFFER text = { 0 };

	json_object(json, NULL);
	write_head(w);
	json_array(json, "pps");
	for (size_t i = 0; i < w->profile->self_count; i++)
		write_point(w, w->profile->order[i]);
	json_end_array(json);
	json_array(json, "ftbl");
	json_string(json, NULL, "[root]");
	for (size_t i = 0; i < w->profile->frame_count; i++)
		json_string(json, NULL, valgrind_frame(&text,
			    &w->profile->frames[i]));
	json_end_array(json);
	json_end_object(json);
}

static int write_dhat(struct export *export)
{
	struct writing w = {
		.export = export,
		.profile = export->profile,
		.end_ns = model_duration_ns(export->model),
		.json = { .out = export->out },
	};

	find_peaks(&w);
	find_rests(&w);
	write_all(&w);
	free(w.rests);
	free(w.peaks);
	return EXIT_COMPLETE;
}

const struct exporter export_dhat = {
	.name = "dhat",
	.what = "DHAT's JSON: Valgrind's dh_view.html",
	.wants_profile = true,
	.wants_costs = true,
	.write = write_dhat,
};
