/*
 * comparison.c: see comparison.h. Called by the main thread.
 */
#include "cli/command/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
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
static bool add_trace(struct comparison *comparison, unsigned side,
		      const char *trace, uint64_t until_ns)
{
	struct compared_side *to = &comparison->sides[side];
	struct stack_filter *filter = NULL;
	struct coverage coverage;
	struct model *model;
	struct frames frames;
	bool fits;
	int status;

	comparison->args->query.until_ns = until_ns;
	status = trace_args_model(comparison->args, &model, trace);
	if (status == EXIT_NOTHING)
		return false;
	if (status == EXIT_PARTIAL)
		comparison->status = EXIT_PARTIAL;
	trace_args_frames(comparison->args, &frames, model);
	fits = trace_args_stack_filter(comparison->args, &frames, &filter);
	if (fits) {
		uint64_t duration_ns = model_duration_ns(model);

		profile_add(comparison->profile, side, &frames,
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

/* Files, or all traces of directories. */
static bool add_operands(struct comparison *comparison, char **operands)
{
	struct trace_args *args = comparison->args;
	size_t second;

	for (unsigned side = 0; side < 2; side++)
		comparison->sides[side].label = operands[side];
	if (!trace_args_find(args, 1, &operands[0]))
		return false;
	second = args->trace_count;
	if (!trace_args_find(args, 1, &operands[1]))
		return false;
	comparison->profile->one_program = second == 1 &&
		args->trace_count == 2;
	for (size_t i = 0; i < args->trace_count; i++)
		if (!add_trace(comparison, i >= second, args->traces[i], 0))
			return false;
	return true;
}

/* Time from the start of a trace to --from or --to. */
static bool find_moment(const char *trace, const char *text, uint64_t *ns)
{
	const struct model_options asked = { .notes = log_notes() };
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

static bool add_moments(struct comparison *comparison, int operands,
			char **argv)
{
	static const char *const ends[2] = { "start", "end" };
	struct trace_args *args = comparison->args;

	if (!trace_args_find_one(args, operands, argv))
		return false;
	for (unsigned side = 0; side < 2; side++) {
		const char *moment = comparison->moments[side];
		const char *trace = args->traces[0];
		uint64_t ns = 0;

		/* A clear between the moments must not hide the first one's
		 * blocks. */
		if (moment == NULL)
			moment = ends[side];
		buffer_printf(&comparison->labels[side], "%s at %s", trace,
			      moment);
		comparison->sides[side].label = comparison->labels[side].data;
		if (strcmp(moment, "end") != 0 &&
		    !find_moment(trace, moment, &ns))
			return false;
		if (side == 0)
			args->query.begin_ns = ns;
		if (!add_trace(comparison, side, trace, ns))
			return false;
	}
	return true;
}

bool comparison_no_moments(struct comparison *comparison)
{
	static const int ids[2] = { FILTER_FROM, FILTER_TO };

	for (unsigned i = 0; i < 2; i++)
		if (comparison->moments[i] != NULL &&
		    trace_args_take(comparison->args, ids[i],
				    comparison->moments[i]) != 0)
			return false;
	return true;
}

static bool read_both(struct comparison *comparison, int operands, char **argv)
{
	bool moments = comparison->moments[0] || comparison->moments[1];

	if (operands < 2 && moments)
		return add_moments(comparison, operands, argv);
	if (operands != 2) {
		log_error("%s: give two traces, or one with --from and --to",
			  operands < 2 ? "nothing to compare with" :
			  "too many traces");
		return false;
	}
	return comparison_no_moments(comparison) &&
		add_operands(comparison, argv);
}

int comparison_take(struct comparison *comparison, int id, const char *value)
{
	struct moment moment;

	/* Moments of one trace, or filters of two: decided later. */
	if (id == FILTER_FROM || id == FILTER_TO) {
		comparison->moments[id == FILTER_TO] = value;
		return moment_parse(value, &moment);
	}
	return trace_args_take(comparison->args, id, value);
}

bool comparison_read(struct comparison *comparison, int operands, char **argv)
{
	comparison->profile = profile_new(2);
	comparison->profile->compares = true;
	/* Within one trace, lines do not move. */
	comparison->profile->of_functions = comparison->of_functions &&
		operands == 2;
	if (!read_both(comparison, operands, argv))
		return false;
	profile_seal(comparison->profile);
	for (unsigned side = 0; side < 2; side++) {
		struct compared_side *one = &comparison->sides[side];

		profile_inclusive(comparison->profile, PROFILE_ROOT, side,
				  &one->sum);
		one->sum.peak_bytes += one->unshared_peak_bytes;
		one->sum.peak_blocks += one->unshared_peak_blocks;
	}
	return true;
}

void comparison_free(struct comparison *comparison)
{
	profile_free(comparison->profile);
	buffer_free(&comparison->labels[0]);
	buffer_free(&comparison->labels[1]);
}
