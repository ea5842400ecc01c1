/*
 * cmd_flamegraph.c: `gnomon flamegraph`: a trace as a picture or as a page.
 * Runs in the main thread; flame*.c do the work.
 */
#include <string.h>

#include "cli/base/terminal/tell.h"
#include "cli/command/exporting.h"
#include "cli/command/figure_words.h"
#include "cli/command/output_file.h"
#include "cli/commands.h"
#include "cli/flamegraph/flame.h"

enum { COST = 1, DIFF, SVG, HTML, JSON, LAYOUT, NO_TIMELINE, OUTPUT };

struct request {
	struct reading reading;
	struct comparing comparing;
	struct flame_export flame;
	struct exporter format;		/* decide() */
	bool diff, svg, html, json, no_timeline;	/* given */
};

static int take(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (reading_has(id))
		return comparing_take(&request->comparing, id, value);
	switch (id) {
	case COST:
		return exporting_take_cost(&request->flame.export, value);
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

/* Whether the name of the output is one of what was asked for. */
static bool name_fits(const struct request *request, bool page)
{
	const char *output = request->flame.export.output;
	const char *kind = output_file_picture(output);

	if (kind != NULL) {
		tell_error("%s: no %s is made here: name it .svg or .html; "
			   "browsers print either", output, kind);
		return false;
	}
	if (request->html && output_file_ends(output, ".svg")) {
		tell_error("%s: --html makes a page, no SVG: name it .html, "
			   "or leave --html out", output);
		return false;
	}
	if (request->svg && page) {
		tell_error("%s: --svg makes a picture, no page: name it .svg, "
			   "or leave --svg out", output);
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
		tell_error("--svg --html --json: one of them at a time");
		return false;
	}
	if (output != NULL && !request->json && !name_fits(request, page))
		return false;
	request->format = request->json ? flame_json :
		request->html || page ? flame_html : flame_svg;
	if (request->no_timeline)
		request->format.wants &= ~(unsigned)MODEL_WANT_TIMELINE;
	return true;
}

static int draw_one(struct request *request, int operands, char **argv)
{
	if (!comparing_no_moments(&request->comparing) ||
	    !reading_find_one(&request->reading, operands, argv))
		return EXIT_NOTHING;
	return exporting_run(&request->flame.export, &request->reading,
			     &request->format);
}

static int draw_difference(struct request *request, int operands, char **argv)
{
	struct comparing *comparing = &request->comparing;
	struct export *export = &request->flame.export;
	const struct exporter *format = &request->format;
	int status;

	request->reading.query.spares |= format->spares;
	comparing->of_functions = true;
	if (!comparing_read(comparing, operands, argv))
		return EXIT_NOTHING;
	request->flame.comparing = comparing;
	export->profile = comparing->profile;
	export->query = &request->reading.query;
	for (unsigned side = 0; side < 2; side++)
		coverage_add(&export->coverage,
			     &comparing->sides[side].coverage);
	filter_tell_unmatched(request->reading.query.filter, tell_notes());
	export->out = output_file_open(export->output);
	if (export->out == NULL)
		return EXIT_NOTHING;
	status = output_file_close(export->out, export->output,
				   format->write(export));
	return status == EXIT_COMPLETE ? comparing->status : status;
}

static int run_flamegraph(const struct command *command, int argc, char **argv)
{
	struct request request = { .flame.icicle = true,
				   .comparing.reading = &request.reading };
	int operands, status;

	reading_init(&request.reading);
	if (!command_parse(command, argc, argv, take, &request, &operands,
			   &status))
		return status;
	status = EXIT_NOTHING;
	if (decide(&request))
		status = request.diff ?
			draw_difference(&request, operands, argv + 1) :
			draw_one(&request, operands, argv + 1);
	comparing_free(&request.comparing);
	reading_free(&request.reading);
	return status;
}

static const char *const description[] = {
	"Draws what a trace says as a flame graph: a box for each function, as "
	"wide as what was allocated in it and in all that it called. An SVG "
	"picture of one cost, or an HTML page with all of them; both are one "
	"file that asks the network for nothing, to be opened in a browser: "
	"click a box to zoom, search by regular expressions. Sums are those of "
	"`gnomon report`, also with filters.",
	"With --diff, what two traces, or two moments of one, have not in "
	"common: operands, --from and --to are those of `gnomon diff`. Of two "
	"traces, boxes are functions, whichever their lines, which move from "
	"build to build. A box is as wide as its stacks were on the side where "
	"each was larger; what has grown is red, and blue what has shrunk, the "
	"stronger the larger a part of it that is.",
	"What is too small to be seen is drawn with the other small functions "
	"that its caller called, as \"(n smaller)\".",
	"Exit status: 0 all was read; 2 wrong use, or nothing could be read; 3 "
	"parts of the trace were missing or damaged, which is said on standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon flamegraph --cost peak -o peak.svg", "what the peak was made of",
	"gnomon flamegraph a.trace -o a.html", "all costs in one page",
	"gnomon flamegraph --fate live --size-min 1M > large.svg",
	"large blocks that were not freed",
	"gnomon flamegraph --diff old.trace new.trace -o diff.html",
	"where the new one needs more, and where less",
	"gnomon flamegraph --diff a.trace --from 10s --to 60s -o diff.html",
	"what has grown within these 50 seconds",
	NULL
};

static const struct command_group *const groups[] = {
	&reading_model_options, &reading_index,
	&reading_symbols, &filter_options, NULL
};

static const struct command_words choices[] = {
	{ COST, figure_words_exported },
	{ 0, NULL },
};

static const struct command_option options[] = {
	{ COST, "cost", 'c', COMMAND_WORDS, "live",
	  "how wide a box is; the page begins with it; %s" },
	{ DIFF, "diff", 0, NULL, NULL,
	  "draw what differs between two traces, or between --from and --to "
	  "of one" },
	{ SVG, "svg", 0, NULL, NULL,
	  "write a picture: what is done unless the output's name ends in "
	  ".html" },
	{ HTML, "html", 0, NULL, NULL, "write a page" },
	{ JSON, "json", 0, NULL, NULL,
	  "what the page shows as one JSON object, for programs to read: boxes "
	  "in columns, each after its caller, with all costs" },
	{ NO_TIMELINE, "no-timeline", 0, NULL, NULL,
	  "leave out what was live over time, which a page and --json have: "
	  "with an index the trace need not be read then" },
	{ LAYOUT, "layout", 0, "icicle|flame", "icicle",
	  "what is called hangs below its caller, or stands upon it; in a "
	  "browser this can be changed" },
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
