/*
 * cmd_annotate.c: `gnomon annotate`: a function's source or instructions with
 * their allocations. Parses options, reads the trace and prints. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/annotate/annotate.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/command/measure_words.h"
#include "cli/command/trace_args.h"
#include "cli/command/output_file.h"

enum { COST = 1, WHOLE, EVERY, AROUND, DISASSEMBLY, SOURCE_ROOT, ONLY_ROOTS,
       LINES_OF, FIRST_LINE, LAST_LINE, OUTPUT, JSON, NO_OWN_PEAKS };

static const struct command_option options[] = {
	{ COST, "cost", 'c', COMMAND_WORDS, NULL,
	  "the measure of lines and calls; %s; own-peak adds up the own peaks "
	  "of stacks (live; total if nothing is live)" },
	{ WHOLE, "all", 'a', NULL, NULL,
	  "the whole function, not only the lines near a cost" },
	{ EVERY, "every", 'e', NULL, NULL,
	  "all matching functions, not only the largest" },
	{ AROUND, "lines", 'n', "N", "3",
	  "context lines before and after a line with a cost; twice as many "
	  "instructions" },
	{ DISASSEMBLY, "disassembly", 'D', NULL, NULL,
	  "instructions, even if the source is found" },
	{ SOURCE_ROOT, "source-root", 'S', "[OLD=]DIR", NULL,
	  "where to look for source files: files compiled below OLD (default: "
	  "any) are below DIR; may be repeated" },
	{ ONLY_ROOTS, "only-roots", 0, NULL, NULL,
	  "read only source files below --source-root: for traces from others, "
	  "which may name any file" },
	{ LINES_OF, "lines-of", 0, "FILE", NULL,
	  "with --json, instead of a function: the lines of a source file, "
	  "named as in stacks" },
	{ FIRST_LINE, "first-line", 0, "N", "1", "first line for --lines-of" },
	{ LAST_LINE, "last-line", 0, "N", "all", "last line for --lines-of" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the result to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read, with all costs" },
	{ NO_OWN_PEAKS, "no-own-peaks", 0, NULL, NULL,
	  "with --json: omit the own peaks of costs, which take longest to "
	  "compute" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_words choices[] = {
	{ COST, measure_words_lines },
	{ 0, NULL },
};

#define ROOTS_MAX 64
#define AROUND_MAX 100000

struct request {
	struct trace_args args;
	struct annotate_options options;
	const char *roots[ROOTS_MAX];
	const char *output;
	struct annotate_lines lines;
	bool first_given, last_given;	/* of lines */
	bool json;
};

static int parse_around(struct request *request, const char *value)
{
	uint64_t count;
	int error = quantity_parse_count(value, &count);

	if (error != 0)
		return error;
	if (count > AROUND_MAX)
		return -ERANGE;
	request->options.around = (unsigned)count;
	return 0;
}

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;
	struct annotate_options *chosen = &request->options;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	switch (id) {
	case COST:
		chosen->measure = measure_words_take(value);
		chosen->measure_given = true;
		break;
	case WHOLE:
		chosen->whole = true;
		break;
	case EVERY:
		chosen->every = true;
		break;
	case AROUND:
		return parse_around(request, value);
	case DISASSEMBLY:
		chosen->disassembly = true;
		break;
	case SOURCE_ROOT:
		if (chosen->root_count == ROOTS_MAX)
			return -ERANGE;
		request->roots[chosen->root_count++] = value;
		break;
	case ONLY_ROOTS:
		chosen->only_roots = true;
		break;
	case LINES_OF:
		request->lines.file = value;
		break;
	case FIRST_LINE:
		request->first_given = true;
		return quantity_parse_count(value, &request->lines.first);
	case LAST_LINE:
		request->last_given = true;
		return quantity_parse_count(value, &request->lines.last);
	case OUTPUT:
		request->output = value;
		break;
	case JSON:
		request->json = true;
		break;
	case NO_OWN_PEAKS:
		chosen->no_own_peaks = true;
		break;
	}
	return 0;
}

/* By default live; total if nothing is live. */
static void choose_measure(struct request *request,
			   const struct annotate *annotate)
{
	if (request->options.measure_given)
		return;
	request->options.measure = MEASURE_TOTAL;
	for (size_t i = 0; i < annotate->count; i++)
		if (annotate->functions[i].sum.all.live_bytes > 0)
			request->options.measure = MEASURE_LIVE;
}

static int show(struct request *request, struct annotate *annotate, int status)
{
	FILE *out = output_file_open(request->output);

	if (out == NULL)
		return EXIT_NOTHING;
	choose_measure(request, annotate);
	annotate_sort(annotate, request->options.measure);
	if (request->json)
		annotate_json(annotate, &request->options, out);
	else
		annotate_text(annotate, &request->options, out);
	return output_file_close(out, request->output, status);
}

static int find_and_show(struct request *request, const char *function)
{
	struct annotate annotate = {
		.query = &request->args.query, .wanted = function,
	};
	struct frames frames;
	int status = trace_args_model(&request->args, &annotate.model,
				      request->args.traces[0]);

	if (status == EXIT_NOTHING)
		return status;
	trace_args_frames(&request->args, &frames, annotate.model);
	annotate.frames = &frames;
	request->options.places = &frames.where;
	/* errors were logged */
	if (!trace_args_stack_filter(&request->args, &frames,
				     &annotate.filter)) {
		status = EXIT_NOTHING;
	} else {
		status = annotate_find(&annotate, request->options.places) ?
			show(request, &annotate, status) : EXIT_NOTHING;
		filter_report_unmatched(request->args.query.filter,
					log_notes());
	}
	annotate_free(&annotate);
	stack_filter_free(annotate.filter);
	frames_free(&frames);
	model_free(annotate.model);
	return status;
}

static int show_lines(struct request *request)
{
	struct model *model;
	struct frames frames;
	int status = trace_args_model(&request->args, &model,
				      request->args.traces[0]);
	FILE *out;

	if (status == EXIT_NOTHING)
		return status;
	trace_args_frames(&request->args, &frames, model);
	request->options.places = &frames.where;
	out = output_file_open(request->output);
	if (out == NULL || !annotate_file_json(&frames, &request->options,
					       &request->lines, out))
		status = EXIT_NOTHING;
	if (out != NULL)
		status = output_file_close(out, request->output, status);
	frames_free(&frames);
	model_free(model);
	return status;
}

/* [TRACE] --lines-of FILE --json */
static int run_lines(struct request *request, int operands, char **argv)
{
	int status = EXIT_NOTHING;

	if (!request->json)
		log_error("--lines-of: needs --json: add it");
	else if (trace_args_find_one(&request->args, operands, argv + 1))
		status = show_lines(request);
	trace_args_free(&request->args);
	return status;
}

/* [TRACE] FUNCTION. The check for a single trace comes later, in reading. */
static bool operands_are_valid(int operands, char **argv)
{
	if (operands < 1)
		log_error("annotate needs a trace and the name of a function: "
			  "`gnomon annotate TRACE FUNCTION`");
	else if (operands > 2)
		log_error("%s: one function of one trace at a time: leave it "
			  "out; an expression may match several (--every)",
			  argv[2]);
	else if (operands == 2 && argv[0][strspn(argv[0], "0123456789")] != 0 &&
		 access(argv[0], F_OK) != 0 && errno == ENOENT)
		log_error("%s: no such trace; only one function can be shown "
			  "at a time: `gnomon annotate [TRACE] FUNCTION`",
			  argv[0]);
	else
		return true;
	return false;
}

/* Whether options for a function are compatible. */
static bool options_are_consistent(const struct request *request)
{
	const struct annotate_options *chosen = &request->options;

	if (request->first_given || request->last_given)
		log_error("%s: needs --lines-of: add it", request->first_given ?
			  "--first-line" : "--last-line");
	else if (chosen->no_own_peaks && !request->json)
		log_error("--no-own-peaks: needs --json: add it");
	else if (chosen->no_own_peaks && chosen->measure_given &&
		 chosen->measure == MEASURE_OWN_PEAK)
		log_error("--no-own-peaks --cost own-peak: leave out one of "
			  "them");
	else
		return true;
	return false;
}

/* Requests only what costs of lines need. */
static void choose_query_spares(struct request *request)
{
	const struct annotate_options *chosen = &request->options;
	bool own_peaks = request->json ? !chosen->no_own_peaks :
		chosen->measure_given && chosen->measure == MEASURE_OWN_PEAK;

	request->args.query.spares = QUERY_SPARES_SIZES |
		/* the JSON summary has them */
		(request->json ? 0 : QUERY_SPARES_WHOLE |
				     QUERY_SPARES_BLOCKS) |
		(own_peaks ? 0 : QUERY_SPARES_OWN_PEAKS);
}

static int run_annotate(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	const char *function;
	int operands, status;

	trace_args_init(&request.args);
	request.options.around = 3;
	request.options.roots = request.roots;
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	if (request.lines.file != NULL)
		return run_lines(&request, operands, argv);
	if (!options_are_consistent(&request) ||
	    !operands_are_valid(operands, argv + 1))
		return EXIT_NOTHING;
	request.options.full = request.args.full_names;
	choose_query_spares(&request);
	function = argv[operands];
	status = EXIT_NOTHING;
	if (trace_args_find_one(&request.args, operands - 1, argv + 1)) {
		if (operands == 1)
			request.options.newest = request.args.traces[0];
		status = find_and_show(&request, function);
	}
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Shows the source of a function, with the allocations of the calls on "
	"each line: in total (first column), and by direct calls of the "
	"allocator, with nothing but the language's own library between "
	"(self). Allocations of an inlined function count at the line of the "
	"call; a recursive call counts once.",
	"If the source is not found, or with --disassembly, it shows the "
	"instructions instead, with costs at calls.",
	"FUNCTION is a name, with or without parameters; or a regular "
	"expression (PCRE2), of whose matches the largest is shown; or "
	"LIBRARY+0xOFFSET, an address in a library without symbols. TRACE may "
	"be left out: then it is the newest trace here, and its name is "
	"printed first. On a terminal, lines are cut at 80 columns.",
	"Exit status: 0: all was read; 2: wrong use, or nothing was found; 3: "
	"parts of the trace were missing or damaged, as standard error "
	"reports.",
	NULL
};

static const char *const examples[] = {
	"gnomon annotate a.trace parse_table",
	"the lines of parse_table that allocate",
	"gnomon annotate --cost peak --every a.trace '^Parser::'",
	"the methods of Parser, by their share of the peak",
	"gnomon annotate -S /build/src=$HOME/src a.trace main",
	"the source of a program that was compiled in /build/src",
	"gnomon annotate a.trace libfoo.so+0x1c40",
	"code at an address in a library without symbols",
	NULL
};

static const struct command_group *const groups[] = {
	&trace_args_symbols, &trace_args_model_options, &trace_args_index,
	&filter_options, NULL
};

const struct command cmd_annotate = {
	.name = "annotate",
	.operands = "[TRACE] FUNCTION",
	.summary = "show source or instructions with their allocations",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_annotate,
};
