/*
 * comparing.c: see comparing.h. Called by the main thread.
 */
#include "cli/command/comparing.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/tell.h"
#include "cli/stack/stack_filter.h"

static void add_unshared(struct compared_side *to,
			 const struct stack_filter *filter,
			 const struct model *model)
{
	if (filter != NULL || model_is_selected(model) ||
	    model_peak_is_shared(model))
		return;
	to->unshared_peak_bytes += model_totals(model)->peak_bytes;
	to->unshared_peak_blocks += model_totals(model)->peak_blocks;
}

/* Adds a trace to a side, in its state `until_ns` after its start; 0: at its
 * end. */
static bool add_trace(struct comparing *comparing, unsigned side,
		      const char *trace, uint64_t until_ns)
{
	struct compared_side *to = &comparing->sides[side];
	struct stack_filter *filter = NULL;
	struct coverage coverage;
	struct model *model;
	struct frames frames;
	bool fits;
	int status;

	comparing->reading->query.until_ns = until_ns;
	status = reading_model(comparing->reading, &model, trace);
	if (status == EXIT_NOTHING)
		return false;
	if (status == EXIT_PARTIAL)
		comparing->status = EXIT_PARTIAL;
	reading_frames(comparing->reading, &frames, model);
	fits = reading_stack_filter(comparing->reading, &frames, &filter);
	if (fits) {
		uint64_t duration_ns = model_duration_ns(model);

		profile_add(comparing->profile, side, &frames,
			    filter ? stack_filter_keeps : NULL, filter);
		to->traces++;
		add_unshared(to, filter, model);
		stack_filter_coverage(filter, model, &coverage);
		coverage_add(&to->coverage, &coverage);
		to->running |= model_is_being_written(model);
		if (until_ns != 0 && until_ns < duration_ns)
			duration_ns = until_ns;
		if (duration_ns > to->duration_ns)
			to->duration_ns = duration_ns;
	}
	stack_filter_free(filter);
	frames_free(&frames);
	model_free(model);
	return fits;
}

/* A file, or all traces of a directory. */
static bool add_operand(struct comparing *comparing, unsigned side,
			char **operand)
{
	struct reading *reading = comparing->reading;
	size_t first = reading->trace_count;

	comparing->sides[side].label = *operand;
	if (!reading_find(reading, 1, operand))
		return false;
	for (size_t i = first; i < reading->trace_count; i++)
		if (!add_trace(comparing, side, reading->traces[i], 0))
			return false;
	return true;
}

/* Time from the start of a trace to --from or --to. */
static bool find_moment(const char *trace, const char *text, uint64_t *ns)
{
	const struct model_options asked = { .notes = tell_notes() };
	struct model *model = model_new(&asked, NULL);
	struct moment moment;
	bool found = false;

	if (moment_parse(text, &moment) == 0 &&
	    model_read_outline(model, trace) != EXIT_NOTHING)
		found = moment_ns(model, &moment, ns);
	model_free(model);
	/* 0 would mean the whole trace. */
	if (found && *ns == 0)
		*ns = 1;
	return found;
}

static bool add_moments(struct comparing *comparing, int operands, char **argv)
{
	static const char *const ends[2] = { "start", "end" };
	struct reading *reading = comparing->reading;

	if (!reading_find_one(reading, operands, argv))
		return false;
	for (unsigned side = 0; side < 2; side++) {
		const char *moment = comparing->moments[side];
		const char *trace = reading->traces[0];
		uint64_t ns = 0;

		/* A clear between the moments must not hide the first one's
		 * blocks. */
		if (moment == NULL)
			moment = ends[side];
		buffer_printf(&comparing->labels[side], "%s at %s", trace,
			      moment);
		comparing->sides[side].label = comparing->labels[side].data;
		if (strcmp(moment, "end") != 0 &&
		    !find_moment(trace, moment, &ns))
			return false;
		if (side == 0)
			reading->query.begin_ns = ns;
		if (!add_trace(comparing, side, trace, ns))
			return false;
	}
	return true;
}

bool comparing_no_moments(struct comparing *comparing)
{
	static const int ids[2] = { FILTER_FROM, FILTER_TO };

	for (unsigned i = 0; i < 2; i++)
		if (comparing->moments[i] != NULL &&
		    reading_take(comparing->reading, ids[i],
				 comparing->moments[i]) != 0)
			return false;
	return true;
}

static bool read_both(struct comparing *comparing, int operands, char **argv)
{
	bool moments = comparing->moments[0] || comparing->moments[1];

	if (operands < 2 && moments)
		return add_moments(comparing, operands, argv);
	if (operands != 2) {
		tell_error("%s: give two traces, or one with --from and --to",
			   operands < 2 ? "nothing to compare with" :
			   "too many traces");
		return false;
	}
	return comparing_no_moments(comparing) &&
		add_operand(comparing, 0, &argv[0]) &&
		add_operand(comparing, 1, &argv[1]);
}

int comparing_take(struct comparing *comparing, int id, const char *value)
{
	struct moment moment;

	/* Moments of one trace, or filters of two: decided later. */
	if (id == FILTER_FROM || id == FILTER_TO) {
		comparing->moments[id == FILTER_TO] = value;
		return moment_parse(value, &moment);
	}
	return reading_take(comparing->reading, id, value);
}

bool comparing_read(struct comparing *comparing, int operands, char **argv)
{
	comparing->profile = profile_new(2);
	comparing->profile->compares = true;
	/* Within one trace, lines do not move. */
	comparing->profile->of_functions = comparing->of_functions &&
		operands == 2;
	if (!read_both(comparing, operands, argv))
		return false;
	profile_seal(comparing->profile);
	for (unsigned side = 0; side < 2; side++) {
		struct compared_side *one = &comparing->sides[side];

		profile_inclusive(comparing->profile, PROFILE_ROOT, side,
				  &one->sum);
		one->sum.peak_bytes += one->unshared_peak_bytes;
		one->sum.peak_blocks += one->unshared_peak_blocks;
	}
	return true;
}

void comparing_free(struct comparing *comparing)
{
	profile_free(comparing->profile);
	buffer_free(&comparing->labels[0]);
	buffer_free(&comparing->labels[1]);
}
