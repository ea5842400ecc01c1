/*
 * cmd_check.c: `gnomon check`: checks traces against limits and against an
 * older trace, for tests and CI. Runs in the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/log.h"
#include "cli/check/check.h"
#include "cli/commands.h"
#include "cli/model/core/damages.h"
#include "cli/query/rows.h"
#include "cli/stack/difference.h"
#include "cli/command/print/profile_stack.h"
#include "cli/command/print/report_coverage.h"
#include "cli/command/trace_args.h"
#include "cli/command/output_file.h"

#define STACKS_SHOWN 3		/* of a failed rule */
#define STACK_LINES 8		/* of each, from its site outward */

enum {
	MAX = 1,		/* plus the figure */
	BASELINE = MAX + MEASURES_MAX, MAX_GROWTH, RUNTIME_FRAMES, JUNIT,
	OUTPUT, JSON
};

static const struct command_option options[] = {
	{ MAX + MEASURE_LIVE, "max-live", 0, "SIZE", NULL,
	  "at most SIZE bytes may be live at the end, except suppressed ones; "
	  "0: nor any block of size 0" },
	{ MAX + MEASURE_PEAK, "max-peak", 0, "SIZE", NULL,
	  "at most SIZE bytes may be live at once" },
	{ MAX + MEASURE_TOTAL, "max-total", 0, "SIZE", NULL,
	  "at most SIZE bytes may be allocated in total" },
	{ MAX + MEASURE_COUNT, "max-count", 0, "N", NULL,
	  "at most N allocations" },
	{ MAX + MEASURE_TEMPORARY, "max-temporary", 0, "N", NULL,
	  "at most N temporary allocations" },
	{ BASELINE, "baseline", 0, "TRACE", NULL,
	  "compare with this trace: live, peak, total, count, temporary" },
	{ MAX_GROWTH, "max-growth", 0, "PERCENT", "0%",
	  "how much larger than in the baseline each may be" },
	{ RUNTIME_FRAMES, "runtime-frames", 0, NULL, NULL,
	  "show frames that only lead to the program's code or away from it, "
	  "as `gnomon report --runtime-frames`" },
	{ JUNIT, "junit", 0, "FILE", NULL,
	  "also write the results to FILE as JUnit XML" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the verdicts to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	COMMAND_COLOR_OPTION,
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&leaks_options, &trace_args_model_options, &trace_args_index,
	&trace_args_symbols, NULL
};

struct request {
	struct trace_args args;
	struct check_rules rules;
	bool has_rules;
	bool has_growth;
	bool json;
	bool full_names;
	bool runtime_frames;
	const char *baseline;
	const char *junit;
	const char *output;
	struct leaks leaks;
	struct leaks old_leaks;	/* of the baseline, with the same rules */
};

/* A trace that was opened. */
struct subject {
	struct model *model;
	struct frames frames;
	int status;
};

static int take_limit(struct request *request, enum measure cost,
		      const char *value)
{
	uint64_t *limit = &request->rules.limit[cost];

	request->has_rules = true;
	request->rules.limited[cost] = true;
	return measure_kinds[cost].unit == QUANTITY_COUNT ?
		quantity_parse_count(value, limit) :
		quantity_parse_size(value, limit);
}

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;
	int error;

	if (leaks_is_option(id)) {
		error = leaks_take(&request->leaks, id, value);
		return error ? error : leaks_take(&request->old_leaks, id,
						  value);
	}
	if (id >= MAX && id < MAX + MEASURES_MAX)
		return take_limit(request, (enum measure)(id - MAX), value);
	switch (id) {
	case BASELINE:
		request->baseline = value;
		request->has_rules = true;
		return 0;
	case MAX_GROWTH:
		request->has_growth = true;
		return quantity_parse_growth(value, &request->rules.growth);
	case RUNTIME_FRAMES:
		request->runtime_frames = true;
		return 0;
	case JUNIT:
		request->junit = value;
		return 0;
	case OUTPUT:
		request->output = value;
		return 0;
	case JSON:
		request->json = true;
		return 0;
	default:
		return trace_args_take(&request->args, id, value);
	}
}

/* ---- reading ---- */

static bool open_subject(struct request *request, struct subject *subject,
			 const char *trace, struct leaks *leaks)
{
	uint64_t damages;

	subject->status = trace_args_model(&request->args, &subject->model,
					   trace);
	if (subject->status == EXIT_NOTHING)
		return false;
	trace_args_frames(&request->args, &subject->frames, subject->model);
	leaks_find(leaks, &subject->frames, &request->args.places);
	damages = model_damages(subject->model)->all;
	if (damages > 0)
		log_note("%s: --guard found damaged blocks (%" PRIu64 "), "
			 "which no rule checks: gnomon report shows them",
			 trace, damages);
	return true;
}

static void close_subject(struct subject *subject)
{
	if (subject->model == NULL)
		return;
	frames_free(&subject->frames);
	model_free(subject->model);
}

/* ---- stacks that made a rule fail ---- */

struct behind {
	struct request *request;
	struct subject *now, *before;
	struct profile *all, *unsuppressed;	/* made on demand */
	struct profile_stack stack;
};

static void print_amount(FILE *out, enum measure cost, uint64_t value,
			 const char *sign)
{
	enum quantity_unit unit = measure_kinds[cost].unit;

	fprintf(out, "\n    %s%s%s\n", sign, UNIT_TEXT(unit, value),
		unit == QUANTITY_BYTES ? "" :
		cost == MEASURE_TEMPORARY ? " temporary" :
		value == 1 ? " allocation" : " allocations");
}

static void print_largest(struct behind *behind, enum measure cost, FILE *out)
{
	struct request *request = behind->request;
	struct query query = request->args.query;
	const struct query_source source = {
		.model = behind->now->model,
		.end_ns = model_duration_ns(behind->now->model),
		.keep = cost == MEASURE_LIVE ? leaks_keeps : NULL,
		.keeper = &request->leaks,
	};
	struct query_rows rows;

	query.order = cost;
	query_rows_collect(&query, &source, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		const struct query_row *row = &rows.list[i];
		uint64_t value = query_value_of_row(&rows, row);

		if (!figures_any(&row->figures, cost, source.end_ns))
			break;
		/* Stacks that hold only blocks of size 0 have no bytes to
		 * print. */
		if (value > 0)
			print_amount(out, cost, value, "");
		else
			fprintf(out, "\n    %s of size 0\n", COUNTED(
				figures_blocks(&row->figures, cost), "block"));
		profile_stack_of_context(&behind->stack, &behind->now->frames,
					 row->node, request->full_names);
		profile_stack_print(&behind->stack, true, STACK_LINES, 6,
				    request->full_names, out);
	}
	query_rows_free(&rows);
}

static struct profile *both_sides(struct behind *behind, bool suppress)
{
	struct profile **profile = suppress ? &behind->unsuppressed :
		&behind->all;

	if (*profile != NULL)
		return *profile;
	*profile = profile_new(2);
	(*profile)->compares = true;
	(*profile)->one_program = true;
	profile_add(*profile, 0, &behind->before->frames,
		    suppress ? leaks_keeps : NULL,
		    &behind->request->old_leaks);
	profile_add(*profile, 1, &behind->now->frames,
		    suppress ? leaks_keeps : NULL, &behind->request->leaks);
	profile_seal(*profile);
	return *profile;
}

static void print_grown(struct behind *behind, enum measure cost, FILE *out)
{
	struct profile *profile = both_sides(behind, cost == MEASURE_LIVE);
	bool full = behind->request->full_names;
	struct profile_groups stacks;
	struct differences found;
	unsigned shown = 0;

	profile_groups(profile, PROFILE_BY_STACK, cost, &stacks);
	differences_find(profile, &stacks, cost, 0, &found);
	for (size_t i = 0; i < found.count && shown < STACKS_SHOWN; i++) {
		const struct difference *one = &found.list[i];

		if (one->after < one->before)
			continue;
		print_amount(out, cost, one->size, "+");
		profile_stack_of_node(&behind->stack, profile,
				      stacks.list[one->group].node, full);
		profile_stack_print(&behind->stack, true, STACK_LINES, 6, full,
				    out);
		shown++;
	}
	differences_free(&found);
	profile_groups_free(&stacks);
}

static void find_stacks(struct request *request, struct subject *now,
			struct subject *before, struct check_result *result)
{
	struct behind behind = { request, now, before, NULL, NULL,
				 { .runtime_frames = request->runtime_frames } };

	for (size_t i = 0; i < result->count; i++) {
		const struct check_verdict *verdict = &result->verdicts[i];
		char *text = NULL;
		size_t size = 0;
		FILE *out;

		if (verdict->passed)
			continue;
		out = open_memstream(&text, &size);
		if (out == NULL)
			continue;	/* out of memory: the verdict stays */
		/* If bytes did not grow, blocks of size 0 made the rule
		 * fail. */
		if (verdict->is_growth && verdict->value > verdict->limit)
			print_grown(&behind, verdict->cost, out);
		else
			print_largest(&behind, verdict->cost, out);
		fclose(out);
		buffer_add(&result->stacks[i], text, size);
		free(text);
	}
	profile_free(behind.all);
	profile_free(behind.unsuppressed);
	profile_stack_free(&behind.stack);
}

/* ---- all traces ---- */

struct output {
	struct json json;
	struct buffer suites;
	size_t failed, unread, partial, rules;
	struct coverage *coverage;	/* of each trace */
};

static void check_one(struct request *request, const char *trace,
		      struct subject *before,
		      const struct check_values *baseline,
		      struct output *output, size_t number)
{
	struct check_result result = { .trace = trace, .number = number,
				       .leaks = &request->leaks };
	struct check_values values;
	struct subject now;

	if (open_subject(request, &now, trace, &request->leaks)) {
		check_values(now.model, &request->leaks, &values);
		result.model = now.model;
		coverage_of(now.model, NULL, NULL, &result.coverage);
		output->coverage[number] = result.coverage;
		check_evaluate(&request->rules, &values, baseline, &result);
		find_stacks(request, &now, before, &result);
		output->partial += now.status == EXIT_PARTIAL;
	}
	output->unread += now.model == NULL;
	output->failed += result.failed;
	output->rules += result.count;
	check_junit_suite(&result, &output->suites);
	if (request->json)
		check_json(&result, &output->json);
	else if (now.model != NULL)
		check_text(&result, output->json.out);
	close_subject(&now);
	for (size_t i = 0; i < CHECK_VERDICTS_MAX; i++)
		buffer_free(&result.stacks[i]);
}

static void put_summary(struct request *request, struct output *output)
{
	struct json *json = &output->json;

	json_end_array(json);
	leaks_json(&request->leaks, json);
	json_array(json, "traces");
	for (size_t i = 0; i < request->args.trace_count; i++) {
		json_object(json, NULL);
		json_string(json, "trace", request->args.traces[i]);
		report_coverage_json(json, &output->coverage[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_object(json, "summary");
	json_uint(json, "traces", request->args.trace_count);
	json_uint(json, "unread", output->unread);
	json_uint(json, "rules", output->rules);
	json_uint(json, "failed", output->failed);
	json_bool(json, "pass", output->failed == 0 && output->unread == 0);
	json_end_object(json);
	json_end_object(json);
}

static int check_all(struct request *request, struct subject *before)
{
	struct output output = {
		.json = { .out = output_file_open(request->output) },
	};
	const struct check_values *baseline = NULL;
	struct check_values values;
	int status;

	if (output.json.out == NULL)
		return EXIT_NOTHING;
	output.coverage = grow_zeroed(request->args.trace_count,
				      sizeof(*output.coverage));
	if (request->baseline != NULL) {
		check_values(before->model, &request->old_leaks, &values);
		baseline = &values;
	}
	if (request->json) {
		json_object(&output.json, NULL);
		json_uint(&output.json, "schema", 1);
		json_array(&output.json, "rows");
	}
	for (size_t i = 0; i < request->args.trace_count; i++)
		check_one(request, request->args.traces[i], before,
			  baseline, &output, i);
	if (request->json)
		put_summary(request, &output);
	else
		leaks_print(&request->leaks, output.json.out);
	status = output.unread > 0 ? EXIT_NOTHING :
		output.failed > 0 ? EXIT_NO :
		output.partial > 0 ? EXIT_PARTIAL : EXIT_COMPLETE;
	if (request->junit != NULL &&
	    !check_junit_write(request->junit, &output.suites))
		status = EXIT_NOTHING;
	buffer_free(&output.suites);
	free(output.coverage);
	return output_file_close(output.json.out, request->output, status);
}

static int run(struct request *request, int operands, char **argv)
{
	struct subject before = { 0 };
	int status = EXIT_NOTHING;

	if (!request->has_rules) {
		log_error("no limit given: try --max-live 0, or --baseline "
			  "TRACE; `gnomon check --help` lists all");
		return EXIT_NOTHING;
	}
	if (request->has_growth && request->baseline == NULL) {
		log_error("--max-growth: needs a trace to compare with: give "
			  "--baseline TRACE");
		return EXIT_NOTHING;
	}
	request->args.query.keys[0] = query_key_stack();
	request->args.query.key_count = 1;
	request->args.query.limit = STACKS_SHOWN;
	/* Suppressions match full names; printed names are shortened. */
	request->full_names = request->args.full_names;
	request->args.full_names = true;
	if (leaks_open(&request->leaks, log_notes()) != 0)
		return EXIT_NOTHING;
	if (request->baseline != NULL &&
	    (leaks_open(&request->old_leaks, log_notes()) != 0 ||
	     !open_subject(request, &before, request->baseline,
			   &request->old_leaks)))
		return EXIT_NOTHING;
	if (trace_args_find(&request->args, operands, argv))
		status = check_all(request, &before);
	if (status == EXIT_COMPLETE && before.status == EXIT_PARTIAL)
		status = EXIT_PARTIAL;
	close_subject(&before);
	return status;
}

static int run_check(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = run(&request, operands, argv + 1);
	leaks_close(&request.leaks);
	leaks_close(&request.old_leaks);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Checks a trace against limits and prints a line for each: name, "
	"limit, value, pass or fail. For a failed rule, it prints the largest "
	"call stacks that caused the failure.",
	"--max-live 0 means that no block may be left: not even blocks of size "
	"0, which malloc(0) makes and LeakSanitizer reports, too. A larger "
	"limit is about bytes only.",
	"TRACE is a file, several files or a directory; left out, it is the "
	"newest trace here. Each trace must pass all rules.",
	"Suppressions list what may be live at the end. Files with "
	"suppressions (--suppressions) have LeakSanitizer's format; a program "
	"can have its own, in a function __lsan_default_suppressions that "
	"returns them as a constant; and there are built-in ones for memory "
	"that C library, loader and C++ library keep. The suppressed amount is "
	"always printed.",
	"Exit status: 0: all rules passed; 1: one failed; 2: wrong use, or a "
	"trace could not be read; 3: all passed, but parts of a trace were "
	"missing or damaged.",
	NULL
};

static const char *const examples[] = {
	"gnomon check --max-live 0 --suppressions lsan.supp a.trace",
	"nothing may be leaked except what the file allows",
	"gnomon check --max-peak 200M --max-count 1000000 --junit out.xml "
	"traces/", "limits for each trace in a directory, for a CI server",
	"gnomon check --baseline old.trace --max-growth 5% new.trace",
	"no measure may be more than 5 % larger than in old.trace",
	NULL
};

const struct command cmd_check = {
	.name = "check",
	.operands = "[TRACE...]",
	.summary = "check traces against limits, for tests and CI",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_check,
};
