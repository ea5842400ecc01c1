/*
 * cmd_flamegraph.c: `gnomon flamegraph`: a trace as an SVG or HTML flame graph.
 * Runs in the main thread; flame*.c do the work.
 */
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/command/export_run.h"
#include "cli/command/measure_words.h"
#include "cli/command/output_file.h"
#include "cli/commands.h"
#include "cli/flamegraph/flame.h"

enum { COST = 1, DIFF, SVG, HTML, JSON, LAYOUT, NO_TIMELINE, OUTPUT };

struct request {
	struct trace_args args;
	struct comparison comparison;
	struct flame_export flame;
	struct exporter format;		/* set by decide() */
	bool diff, svg, html, json, no_timeline;	/* given */
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (trace_args_has(id))
		return comparison_take(&request->comparison, id, value);
	switch (id) {
	case COST:
		return export_run_measure(&request->flame.export, value);
	case DIFF:
		request->diff = true;
		break;
	case SVG:
		request->svg = true;
		break;
	case HTML:
		request->html = true;
		break;
	case JSON:
		request->json = true;
		break;
	case NO_TIMELINE:
		request->no_timeline = true;
		break;
	case LAYOUT:
		request->flame.icicle = strcmp(value, "icicle") == 0;
		break;
	case OUTPUT:
		request->flame.export.output = value;
		break;
	}
	return 0;
}

/* Whether the output's file name fits the requested format. */
static bool name_fits(const struct request *request, bool page)
{
	const char *output = request->flame.export.output;
	const char *kind = output_file_picture(output);

	if (kind != NULL) {
		log_error("%s: cannot write %s: name it .svg or .html; "
			  "browsers print both", output, kind);
		return false;
	}
	if (request->html && output_file_ends(output, ".svg")) {
		log_error("%s: --html writes a page, not SVG: name it .html, "
			  "or remove --html", output);
		return false;
	}
	if (request->svg && page) {
		log_error("%s: --svg writes SVG, not a page: name it .svg, or "
			  "remove --svg", output);
		return false;
	}
	return true;
}

static bool decide(struct request *request)
{
	struct flame_export *flame = &request->flame;
	const char *output = flame->export.output;
	bool page = output != NULL && (output_file_ends(output, ".html") ||
				       output_file_ends(output, ".htm"));

	if (request->svg + request->html + request->json > 1) {
		log_error("--svg, --html, --json: use only one of them");
		return false;
	}
	if (output != NULL && !request->json && !name_fits(request, page))
		return false;
	if (output == NULL && !request->json && isatty(STDOUT_FILENO)) {
		log_error("a picture is not for terminals: write it to a file "
			  "with -o FILE.svg or FILE.html");
		return false;
	}
	request->format = request->json ? flame_json :
		request->html || page ? flame_html : flame_svg;
	if (request->no_timeline)
		request->format.wants &= ~(unsigned)MODEL_WANT_TIMELINE;
	return true;
}

static int draw_one(struct request *request, int operands, char **argv)
{
	if (!comparison_no_moments(&request->comparison) ||
	    !trace_args_find_one(&request->args, operands, argv))
		return EXIT_NOTHING;
	return export_run(&request->flame.export, &request->args,
			  &request->format);
}

static int draw_difference(struct request *request, int operands, char **argv)
{
	struct comparison *comparison = &request->comparison;
	struct export *export = &request->flame.export;
	const struct exporter *format = &request->format;
	int status;

	request->args.query.spares |= format->spares;
	comparison->of_functions = true;
	if (!comparison_read(comparison, operands, argv))
		return EXIT_NOTHING;
	request->flame.comparison = comparison;
	export->profile = comparison->profile;
	export->query = &request->args.query;
	for (unsigned side = 0; side < 2; side++)
		coverage_add(&export->coverage,
			     &comparison->sides[side].coverage);
	filter_report_unmatched(request->args.query.filter, log_notes());
	export->out = output_file_open(export->output);
	if (export->out == NULL)
		return EXIT_NOTHING;
	status = output_file_close(export->out, export->output,
				   format->write(export));
	return status == EXIT_COMPLETE ? comparison->status : status;
}

static int run_flamegraph(const struct command *command, int argc, char **argv)
{
	struct request request = { .flame.icicle = true,
				   .comparison.args = &request.args };
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (decide(&request))
		status = request.diff ?
			draw_difference(&request, operands, argv + 1) :
			draw_one(&request, operands, argv + 1);
	comparison_free(&request.comparison);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Draws a trace as a flame graph: a box for each function, as wide as "
	"the allocations in the function and all its callees. Writes an SVG "
	"picture of one cost, or an HTML page with all costs. Both are single "
	"files that make no network requests. Open them in a browser: click a "
	"box to zoom, search by regular expressions. Sums are those of `gnomon "
	"report`, with or without filters.",
	"With --diff, shows the differences of two traces, or of two moments "
	"of one trace: operands, --from and --to are those of `gnomon diff`. "
	"Between two traces, boxes are functions without line numbers, since "
	"lines move from build to build. A box is as wide as the larger side "
	"of each of its stacks. Growth is red, shrinkage blue; the larger the "
	"relative change, the stronger the colour.",
	"Functions too small to be visible are merged, for each caller, into "
	"one box \"(n smaller)\".",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be "
	"read; 3: parts of the trace are missing or damaged: see standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon flamegraph --cost peak -o peak.svg",
		"the call stacks that made up the peak",
	"gnomon flamegraph a.trace -o a.html", "all costs in one page",
	"gnomon flamegraph --fate live --size-min 1M > large.svg",
	"large blocks that were never freed",
	"gnomon flamegraph --diff old.trace new.trace -o diff.html",
	"where the new trace uses more memory, and where less",
	"gnomon flamegraph --diff a.trace --from 10s --to 60s -o diff.html",
	"growth within these 50 seconds",
	NULL
};

static const struct command_group *const groups[] = {
	&trace_args_model_options, &trace_args_index,
	&trace_args_symbols, &filter_options, NULL
};

static const struct command_words choices[] = {
	{ COST, measure_words_exported },
	{ 0, NULL },
};

static const struct command_option options[] = {
	{ COST, "cost", 'c', COMMAND_WORDS, "live",
	  "the width of boxes; a page starts with this cost; %s" },
	{ DIFF, "diff", 0, NULL, NULL,
	  "draw the differences between two traces, or between --from and --to "
	  "of one" },
	{ SVG, "svg", 0, NULL, NULL,
	  "write SVG; default unless the output's name ends in .html" },
	{ HTML, "html", 0, NULL, NULL, "write an HTML page" },
	{ JSON, "json", 0, NULL, NULL,
	  "write the page's data as one JSON object: boxes as columns, in "
	  "preorder, with all costs" },
	{ NO_TIMELINE, "no-timeline", 0, NULL, NULL,
	  "leave out live memory over time from a page or --json: with an "
	  "index, the trace need not be read then" },
	{ LAYOUT, "layout", 0, "icicle|flame", "icicle",
	  "icicle: callees below their callers; flame: above; can be changed "
	  "in the browser" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the result to FILE" },
	COMMAND_COMMON_OPTIONS,
};

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.operands = "[TRACE] | --diff A B | --diff TRACE --from MOMENT "
		    "--to MOMENT",
	.summary = "draw a trace as a flame graph",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_flamegraph,
};
