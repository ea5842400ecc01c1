/*
 * report_controls.c: see report_parts.h. Called by the main thread.
 */
#include "cli/command/print/report_parts.h"

#include <inttypes.h>

#include "cli/base/text/quantity.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/damages.h"
#include "cli/model/core/pools.h"
#include "cli/model/omitted.h"

#define NAME_WIDTH 24

static uint64_t ns_of(const struct model *model, uint64_t stamp)
{
	return model_since_start_ns(model, stamp);
}

/* The start or clear with which the view begins; NULL: the view is the whole
 * trace. */
static const struct control *begins_with(const struct model *model)
{
	const struct controls *controls = model_controls(model);

	for (size_t i = controls->count; i-- > 0 && controls->view > 0;)
		if (controls->list[i].stamp == controls->view &&
		    control_begins(&controls->list[i]))
			return &controls->list[i];
	return NULL;
}

/* Whether anything may have been recorded before it. */
static bool hides_anything(const struct model *model,
			   const struct control *view)
{
	const struct controls *controls = model_controls(model);
	uint64_t off = UINT64_MAX;

	for (size_t i = 0; &controls->list[i] < view; i++)
		if (controls->list[i].what == GT_CONTROL_STOP &&
		    off == UINT64_MAX)
			off = ns_of(model, controls->list[i].stamp);
		else if (control_begins(&controls->list[i]))
			return true;
	return off > 0;
}

/* How long recording was off, in all. */
static uint64_t off_ns(const struct model *model)
{
	const struct controls *controls = model_controls(model);
	uint64_t since = UINT64_MAX, sum = 0, ns;

	for (size_t i = 0; i < controls->count; i++) {
		ns = ns_of(model, controls->list[i].stamp);
		if (controls->list[i].what == GT_CONTROL_STOP &&
		    since == UINT64_MAX)
			since = ns;
		if (controls->list[i].what != GT_CONTROL_START ||
		    since == UINT64_MAX)
			continue;
		sum += ns > since ? ns - since : 0;
		since = UINT64_MAX;
	}
	ns = model_duration_ns(model);
	return sum + (since < ns ? ns - since : 0);
}

static void put_name(const char *name, size_t width, FILE *out)
{
	if (name[0] == 0)
		return;
	fprintf(out, " \"");
	report_put_text(out, name, width);
	putc('"', out);
}

/* Lines about a part of a recording (--limit). */
static void put_part(const struct report *r, uint64_t part)
{
	const uint64_t *run = model_leftout(r->model)->run.value;
	uint64_t left_out = model_number(r->model, GT_INFO, "part_left_out", 0);
	uint64_t live = model_live_at_begin(r->model) + left_out;

	fprintf(r->out, "  part         number %s of a longer recording: %s "
		"block%s live when it\n               began; blocks freed "
		"before are only in the totals\n", COUNT_TEXT(part),
		COUNT_TEXT(live), live == 1 ? " was" : "s were");
	if (left_out > 0)
		fprintf(r->out, "               these were too many for its "
			"size (--limit): they are in the totals,\n"
			"               as live, though some may be freed by "
			"now\n");
	if (run[GT_RUN_PEAK_BYTES] > 0)
		fprintf(r->out, "               until then the peak was %s, "
			"after %s\n", SIZE_TEXT(run[GT_RUN_PEAK_BYTES]),
			TIME_TEXT(ns_of(r->model, run[GT_RUN_PEAK_STAMP])));
}

void report_view_text(const struct report *r)
{
	const struct model *model = r->model;
	const struct control *view = begins_with(model);
	uint64_t part = model_number(model, GT_INFO, "part", 0);
	uint64_t off = off_ns(model);

	if (part > 0)
		put_part(r, part);
	if (view != NULL) {
		fprintf(r->out, "  counted      since the %s",
			view->what == GT_CONTROL_START ? "start of recording" :
			"clear");
		put_name(view->name, NAME_WIDTH, r->out);
		fprintf(r->out, " after %s\n",
			TIME_TEXT(ns_of(model, view->stamp)));
		if (hides_anything(model, view))
			fprintf(r->out, "               (--from start also "
				"counts earlier blocks)\n");
	}
	if (off > 0)
		fprintf(r->out, "  not recorded %s of it: recording was off\n",
			TIME_TEXT(off));
}

void report_unrecorded_text(const struct report *r)
{
	const struct coverage_amount *unrecorded =
		&r->about.coverage.unrecorded;

	if (unrecorded->allocations == 0)
		return;
	fprintf(r->out, "  unrecorded   %s (%s), because of size or "
		"thread:\n               %s\n",
		COUNTED(unrecorded->allocations, "block"),
		SIZE_TEXT(unrecorded->bytes),
		model_is_selected(r->model) || r->keep != NULL ?
		"the filters cannot be applied to them: not counted" :
		"counted in the allocations above and in --sizes");
}

void report_pools_text(const struct report *r)
{
	const struct pools *pools = model_pools(r->model);
	bool any = false;

	for (size_t i = 1; i < pools->count && !model_is_selected(r->model);
	     i++) {
		const struct totals *figures = &pools->list[i].figures;

		if (figures->allocations == 0)
			continue;
		if (!any)
			fprintf(r->out, "  heaps        of the program's own; "
				"they may lie inside malloc's blocks, so they "
				"are\n               not in the sums above: "
				"--heap NAME shows one\n");
		any = true;
		fprintf(r->out, "              ");
		put_name(pools->list[i].name[0] ? pools->list[i].name : "?",
			 NAME_WIDTH, r->out);
		fprintf(r->out, ": live %s in %s, peak %s, %s\n",
			SIZE_TEXT(figures->live_bytes),
			COUNT_TEXT(figures->live_blocks),
			SIZE_TEXT(figures->peak_bytes),
			COUNTED(figures->allocations, "allocation"));
	}
}

void report_view_json(struct json *json, const struct report *r)
{
	const struct control *view = begins_with(r->model);

	json_uint(json, "view_start_ns", view == NULL ? 0 :
		  ns_of(r->model, view->stamp));
	json_uint(json, "not_recorded_ns", off_ns(r->model));
	json_uint(json, "damages", model_damages(r->model)->all);
	if (model_number(r->model, GT_INFO, "part", 0) == 0)
		return;
	json_uint(json, "part", model_number(r->model, GT_INFO, "part", 0));
	json_uint(json, "part_live_blocks", model_live_at_begin(r->model));
	json_uint(json, "part_left_out_blocks",
		  model_number(r->model, GT_INFO, "part_left_out", 0));
	json_uint(json, "run_peak_bytes", model_totals(r->model)->peak_bytes);
	json_uint(json, "run_peak_time_ns",
		  ns_of(r->model, model_totals(r->model)->peak_stamp));
}

void report_pools_json(struct json *json, const struct model *model)
{
	const struct pools *pools = model_pools(model);

	if (pools->count == 0)
		return;
	json_array(json, "heaps");
	for (size_t i = 1; i < pools->count; i++) {
		const struct totals *figures = &pools->list[i].figures;

		json_object(json, NULL);
		json_uint(json, "heap", i);
		json_string(json, "name", pools->list[i].name);
		json_uint(json, "allocations", figures->allocations);
		json_uint(json, "frees", figures->frees);
		json_uint(json, "total_bytes", figures->total_bytes);
		json_uint(json, "live_bytes", figures->live_bytes);
		json_uint(json, "live_blocks", figures->live_blocks);
		json_uint(json, "peak_bytes", figures->peak_bytes);
		json_uint(json, "peak_blocks", figures->peak_blocks);
		json_uint(json, "peak_time_ns",
			  ns_of(model, figures->peak_stamp));
		json_end_object(json);
	}
	json_end_array(json);
}

/* ---- gnomon info ---- */

void report_controls_text(const struct model *model, FILE *out)
{
	const struct controls *controls = model_controls(model);
	const struct pools *pools = model_pools(model);

	if (controls->count > 0)
		fprintf(out, "\nCONTROL (%zu)\n", controls->count);
	for (size_t i = 0; i < controls->count; i++) {
		const struct control *control = &controls->list[i];

		fprintf(out, "  %12s  %s",
			TIME_TEXT(ns_of(model, control->stamp)),
			control_words[control->what]);
		put_name(control->name, report_width() / 2, out);
		putc('\n', out);
	}
	if (controls->refused > 0)
		fprintf(out, "  %" PRIu64 " more were left out\n",
			controls->refused);
	if (pools->count > 0)
		fprintf(out, "\nHEAPS of the program's own (%zu)\n",
			pools->count - 1);
	for (size_t i = 1; i < pools->count; i++) {
		fprintf(out, "  %12zu ", i);
		put_name(pools->list[i].name[0] ? pools->list[i].name : "?",
			 report_width() / 2, out);
		putc('\n', out);
	}
}

void report_controls_json(struct json *json, const struct model *model)
{
	const struct controls *controls = model_controls(model);

	json_array(json, "controls");
	for (size_t i = 0; i < controls->count; i++) {
		json_object(json, NULL);
		json_string(json, "what",
			    control_words[controls->list[i].what]);
		json_uint(json, "time_ns",
			  ns_of(model, controls->list[i].stamp));
		json_string(json, "name", controls->list[i].name);
		json_end_object(json);
	}
	json_end_array(json);
	report_pools_json(json, model);
}
