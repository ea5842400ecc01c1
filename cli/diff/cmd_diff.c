/*
 * cmd_diff.c: `gnomon diff`: compares two traces, or two moments of one. Runs
 * in the main thread.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/diff/diff.h"
#include "cli/command/comparison.h"
#include "cli/command/measure_words.h"
#include "cli/command/output_file.h"

#define TOP 10			/* rows with --cost, */
#define TOP_OF_EACH 3		/* of each cost without it, */
#define TOP_JSON 1000		/* and with --json */

enum { COST = 1, BY, TOP_ROWS, THRESHOLD, RUNTIME_FRAMES, OUTPUT, JSON };

static const struct command_option options[] = {
	{ COST, "cost", 'c', COMMAND_WORDS, NULL,
	  "compare only this measure; %s (live, peak, total, count and "
	  "temporary)" },
	{ COST, "sort", 's', COMMAND_WORDS, NULL, "same as --cost" },
	{ BY, "by", 'b', COMMAND_WORDS, "stack", "what is compared; %s" },
	{ TOP_ROWS, "top", 'n', "N", NULL,
	  "rows for each measure, 0 for all (3; 10 with --cost; 1000 with "
	  "--json)" },
	{ THRESHOLD, "threshold", 't', "AMOUNT", "0",
	  "ignore differences up to AMOUNT: bytes, a number, or a share (5%) "
	  "of the larger side" },
	{ RUNTIME_FRAMES, "runtime-frames", 0, NULL, NULL,
	  "show frames that only lead to the program's code or away from it, "
	  "as `gnomon report --runtime-frames`" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the comparison to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	COMMAND_COLOR_OPTION,
	COMMAND_COMMON_OPTIONS,
};

/* Profiles have only stacks; their sides are compared row by row. */
static const char *by_word(size_t n, const char **meaning)
{
	for (unsigned i = 0; i < query_key_count; i++)
		if (query_keys[i].of != QUERY_OF_BLOCK &&
		    !query_keys[i].inclusive && n-- == 0) {
			*meaning = query_keys[i].help;
			return query_keys[i].name;
		}
	return NULL;
}

static const struct command_words choices[] = {
	{ BY, by_word },
	{ COST, measure_words_sums },
	{ 0, NULL },
};

static const struct command_group *const groups[] = {
	&filter_options, &trace_args_model_options, &trace_args_index,
	&trace_args_symbols, NULL
};

struct request {
	struct trace_args args;
	struct comparison comparison;
	struct diff diff;
	const char *output;
	bool json;
	bool top_given;
};

static int take_threshold(struct diff_threshold *threshold, const char *value)
{
	if (strchr(value, '%') != NULL)
		return quantity_parse_growth(value, &threshold->percent);
	return quantity_parse_size(value, &threshold->amount);
}

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	switch (id) {
	case COST:
		request->args.query.order = measure_words_take(value);
		request->diff.one_cost = true;
		return 0;
	case BY:
		request->args.query.keys[0] =
			query_key_find(value, strlen(value));
		return 0;
	case TOP_ROWS:
		request->top_given = true;
		return quantity_parse_count(value,
					    &request->args.query.limit);
	case THRESHOLD:
		return take_threshold(&request->diff.threshold, value);
	case RUNTIME_FRAMES:
		request->diff.runtime_frames = true;
		return 0;
	case OUTPUT:
		request->output = value;
		return 0;
	case JSON:
		request->json = true;
		return 0;
	default:
		return comparison_take(&request->comparison, id, value);
	}
}

/* ---- comparing ---- */

static uint64_t threshold_of(const struct diff *diff, enum measure cost)
{
	uint64_t before = profile_value(diff->profile, &diff->sides[0].sum,
					cost);
	uint64_t after = profile_value(diff->profile, &diff->sides[1].sum,
				       cost);
	double share = (double)(before > after ? before : after) *
		diff->threshold.percent / 100;
	uint64_t amount = diff->threshold.amount;

	if (share >= (double)UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)share > amount ? (uint64_t)share : amount;
}

static void compare(struct diff *diff)
{
	profile_groups(diff->profile, diff->query->keys[0]->by,
		       diff->query->order, &diff->groups);
	for (unsigned i = 0; i < measure_count; i++) {
		enum measure cost = (enum measure)i;

		if (!diff_shows(diff, cost))
			continue;
		differences_find(diff->profile, &diff->groups, cost,
				 threshold_of(diff, cost), &diff->found[i]);
		diff->differs |= diff->found[i].count > 0;
	}
}

static int print(struct request *request)
{
	struct diff *diff = &request->diff;
	FILE *out = output_file_open(request->output);

	if (out == NULL)
		return EXIT_NOTHING;
	if (!request->top_given)
		request->args.query.limit = request->json ? TOP_JSON :
			diff->one_cost ? TOP : TOP_OF_EACH;
	diff->full_names = request->args.full_names;
	if (request->json)
		diff_json(diff, out);
	else
		diff_text(diff, out);
	return output_file_close(out, request->output,
				 diff->differs ? EXIT_NO :
				 request->comparison.status);
}

static int run_diff(const struct command *command, int argc, char **argv)
{
	struct request request = { .diff.query = &request.args.query,
				   .comparison.args = &request.args };
	int operands, status;

	trace_args_init(&request.args);
	request.args.query.keys[0] = query_key_stack();
	request.args.query.key_count = 1;
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (request.json && request.diff.runtime_frames)
		log_error("--json --runtime-frames: this output always has all "
			  "frames: leave out the second");
	else if (comparison_read(&request.comparison, operands, argv + 1)) {
		request.diff.sides = request.comparison.sides;
		request.diff.profile = request.comparison.profile;
		compare(&request.diff);
		status = print(&request);
		filter_report_unmatched(request.args.query.filter,
					log_notes());
	}
	for (unsigned i = 0; i < measure_count; i++)
		differences_free(&request.diff.found[i]);
	profile_groups_free(&request.diff.groups);
	comparison_free(&request.comparison);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Compares two traces, or one trace at two moments (--from, --to). "
	"Stacks are the same if their libraries, functions, files and lines "
	"are; addresses, process ids and order do not matter. Between two "
	"processes, the name of the program's file and the directories of "
	"source files do not matter either. --by function compares builds "
	"whose lines differ.",
	"Events at a moment belong to it: live at 10s is the same as in "
	"`gnomon report --alive-at 10s`.",
	"A and B are files, or directories, whose traces are added up. With "
	"one trace, --from and --to are the two moments: live is the memory "
	"live then, other measures are totals up to then. With two traces, "
	"they are filters as in `gnomon report`.",
	"Exit status: 0: no difference; 1: a difference above the threshold; "
	"2: wrong use, or nothing could be read; 3: no difference, but parts "
	"of a trace were missing or damaged.",
	NULL
};

static const char *const examples[] = {
	"gnomon diff old.trace new.trace", "show all differences",
	"gnomon diff --cost live --by function --threshold 64k a.trace b.trace",
	"functions whose live memory at the end differs by more than 64 KiB",
	"gnomon diff a.trace --from 10s --to 60s",
	"what is live 60 seconds after the start, but was not at 10 seconds",
	NULL
};

const struct command cmd_diff = {
	.name = "diff",
	.operands = "A B | TRACE --from MOMENT --to MOMENT",
	.summary = "compare two traces, or two moments of one",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_diff,
};
