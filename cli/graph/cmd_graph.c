/*
 * cmd_graph.c: `gnomon graph`: measures over time as a picture, a page or a
 * table. Runs in the main thread; graph*.c do the work.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/command/export_run.h"
#include "cli/command/measure_words.h"
#include "cli/command/output_file.h"
#include "cli/commands.h"
#include "cli/graph/graph.h"

#define DEFAULT_TOP 9
#define DEFAULT_STEPS 256

enum { COST = 1, BY, TOP, STEPS, FORMAT, LAYOUT, OUTPUT };

struct graph_format {
	const char *name;
	const char *ending, *other;	/* file name suffixes */
	void (*write)(const struct graph *graph, FILE *out);
};

static const struct graph_format formats[] = {
	{ "svg", ".svg", ".svg", graph_svg },
	{ "html", ".html", ".htm", graph_html },
	{ "csv", ".csv", ".csv", graph_csv },
	{ "json", ".json", ".json", graph_json },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

struct request {
	struct export export;		/* first: see write_one */
	struct trace_args args;
	struct graph graph;
	struct graph_wanted wanted;
	const struct graph_format *format;
	const char *by, *layout;	/* NULL: not given */
	uint64_t top, steps;
	bool top_given;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	switch (id) {
	case COST:
		return export_run_measure(&request->export, value);
	case BY:
		request->by = value;
		break;
	case TOP:
		request->top_given = true;
		return quantity_parse_count(value, &request->top);
	case STEPS:
		return series_parse_steps(value, &request->steps);
	case FORMAT:
		for (size_t i = 0; i < FORMATS; i++)
			if (strcmp(value, formats[i].name) == 0)
				request->format = &formats[i];
		break;
	case LAYOUT:
		request->layout = value;
		break;
	case OUTPUT:
		request->export.output = value;
		break;
	}
	return 0;
}

/* ---- options ---- */

/* Choose the format by the output's name if not given. False: they conflict. */
static bool decide_format(struct request *request)
{
	const char *output = request->export.output;
	const char *kind = output ? output_file_picture(output) : NULL;

	if (kind != NULL) {
		log_error("%s: cannot write %s: name it .svg or .html; "
			  "browsers print both", output, kind);
		return false;
	}
	for (size_t i = 0; output != NULL && i < FORMATS; i++) {
		if (!output_file_ends(output, formats[i].ending) &&
		    !output_file_ends(output, formats[i].other))
			continue;
		if (request->format != NULL && request->format != &formats[i]) {
			log_error("%s: does not fit --format %s: remove the "
				  "option, or name it %s", output,
				  request->format->name,
				  request->format->ending);
			return false;
		}
		request->format = &formats[i];
	}
	if (request->format == NULL)
		request->format = &formats[0];
	return true;
}

static bool decide_query(struct request *request)
{
	struct query *query = &request->args.query;
	enum measure cost = request->graph.cost;
	struct buffer why = { 0 };
	bool good = true;

	*query->keys = query_key_site();
	query->key_count = 1;
	if (request->by != NULL)
		good = query_parse_keys(query, request->by, &why);
	if (!good)
		log_error("--by %s: %s", request->by, why.data);
	buffer_free(&why);
	request->graph.adds_up = query_inclusive(query) == NULL;
	/* Rows are sorted by their share of the peak: little may be live at the
	 * end. */
	query->order = cost == MEASURE_LIVE ? MEASURE_PEAK : cost;
	query->limit = request->top_given ? request->top : DEFAULT_TOP;
	query->over_time = true;
	request->wanted.full_names = request->args.full_names;
	request->wanted.steps = request->steps ? (size_t)request->steps :
		DEFAULT_STEPS;
	return good;
}

/* Call it once it is known whether series add up. */
static bool decide_layout(struct request *request, bool usual)
{
	bool can_stack = graph_can_stack(&request->graph);
	const char *layout = request->layout;

	request->graph.stacked = layout ? strcmp(layout, "stacked") == 0 :
		can_stack && usual;
	if (!request->graph.stacked || can_stack)
		return true;
	log_error("--layout stacked: these series do not add up: use lines");
	return false;
}

static bool options_are_consistent(struct request *request)
{
	const struct trace_args *args = &request->args;

	if (query_is_of_moment(&args->query))
		log_error("--alive-at selects one moment, but a graph needs a "
			  "span of time: remove it, or use --from and --to");
	else if (args->many && (request->by != NULL || request->top_given))
		log_error("%s: several traces are drawn as one series each: "
			  "give only one trace",
			  request->by ? "--by" : "--top");
	else
		return args->many || decide_layout(request, true);
	return false;
}

/* ---- one trace ---- */

static int write_one(struct export *export)
{
	struct request *request = (struct request *)export;
	const struct query_source source = {
		.model = export->model, .frames = export->frames,
		.profile = export->profile, .trace = export->trace,
		.end_ns = model_duration_ns(export->model),
		.keep = export->keep, .keeper = export->keeper,
	};
	int status;

	if (export->profile == NULL &&
	    query_has(export->query, QUERY_OF_SITE))
		frames_find_sites(export->frames);
	request->graph.coverage = export->coverage;
	export_title(&request->graph.title, export->model, export->trace);
	status = graph_gather(&request->graph, export->query, &request->wanted,
			      &source);
	if (status == EXIT_NOTHING)
		return status;
	request->format->write(&request->graph, export->out);
	return EXIT_COMPLETE;
}

static int graph_one(struct request *request)
{
	const struct exporter exporter = {
		.name = request->format->name,
		.wants_profile = query_needs_profile(&request->args.query),
		.wants_costs = true,
		.write = write_one,
	};

	if (!model_can_be_read_again(request->args.traces[0], log_notes()))
		return EXIT_NOTHING;
	return export_run(&request->export, &request->args, &exporter);
}

/* ---- several traces ---- */

/* Find the time of each trace first: they share an axis. Only a complete pass
 * finds the last event, which may be later than all recorded times. */
static void find_time(const char *trace, struct graph_time *time)
{
	struct model *model = model_new(NULL, NULL);

	model_read(model, trace);
	time->start_ns = model_number(model, GT_INFO, "start_realtime_ns", 0);
	time->duration_ns = model_duration_ns(model);
	model_free(model);
}

static int add_trace(struct request *request, const char *trace,
		     const struct graph_time *time)
{
	struct model *model;
	struct stack_filter *filter = NULL;
	struct coverage coverage;
	struct query_source source;
	struct frames frames;
	int status, followed = EXIT_NOTHING;

	if (!model_can_be_read_again(trace, log_notes()))
		return EXIT_NOTHING;
	status = trace_args_model(&request->args, &model, trace);
	if (status == EXIT_NOTHING)
		return status;
	trace_args_frames(&request->args, &frames, model);
	if (trace_args_stack_filter(&request->args, &frames, &filter)) {
		source = (struct query_source){
			.model = model, .frames = &frames, .trace = trace,
			.end_ns = model_duration_ns(model),
			.keep = filter ? stack_filter_keeps : NULL,
			.keeper = filter,
		};
		followed = graph_add_trace(&request->graph,
					   &request->args.query,
					   &source, time);
	}
	if (followed != EXIT_NOTHING) {
		stack_filter_coverage(filter, model, &coverage);
		coverage_add(&request->graph.coverage, &coverage);
	}
	stack_filter_free(filter);
	frames_free(&frames);
	model_free(model);
	return followed == EXIT_NOTHING ? followed : status;
}

static int gather_many(struct request *request)
{
	struct trace_args *args = &request->args;
	size_t count = args->trace_count;
	struct graph_time *times = grow_zeroed(count, sizeof(*times));
	int status = EXIT_COMPLETE;

	/* each trace is one series: its total */
	args->query.keys[0] = query_key_stack();
	args->query.limit = 1;
	for (size_t i = 0; i < count; i++)
		if (model_can_be_read_again(args->traces[i], NULL))
			find_time(args->traces[i], &times[i]);
	graph_set_axis(&request->graph, times, count, request->wanted.steps);
	for (size_t i = 0; i < count; i++)
		if (add_trace(request, args->traces[i], &times[i]) !=
		    EXIT_COMPLETE)
			status = EXIT_PARTIAL;
	filter_report_unmatched(args->query.filter, log_notes());
	free(times);
	return request->graph.count == 0 ? EXIT_NOTHING : status;
}

static int graph_many(struct request *request)
{
	const char *filters = filter_text(request->args.query.filter);
	struct graph *graph = &request->graph;
	FILE *out;
	int status = gather_many(request);

	if (status == EXIT_NOTHING ||
	    !decide_layout(request, false))
		return EXIT_NOTHING;
	buffer_printf(&graph->title, "%s traces", COUNT_TEXT(graph->count));
	if (filters[0] != 0)
		buffer_printf(&graph->about, ", of blocks with%s", filters);
	if (graph->coverage.sample_mean > 0)
		buffer_string(&graph->about, ", estimated from samples");
	out = output_file_open(request->export.output);
	if (out == NULL)
		return EXIT_NOTHING;
	request->format->write(graph, out);
	return output_file_close(out, request->export.output, status);
}

/* ---- the command ---- */

static int run_graph(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	trace_args_init(&request.args);
	request.args.query.groups_max = QUERY_GROUPS_MAX;
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	request.graph.cost = request.export.cost;
	if (decide_format(&request) && decide_query(&request) &&
	    trace_args_find(&request.args, operands, argv + 1) &&
	    options_are_consistent(&request))
		status = request.args.many ? graph_many(&request) :
			graph_one(&request);
	graph_free(&request.graph);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Draws live or allocated memory over the time of a recording: the "
	"largest rows of `gnomon report` with the same --by, each in a colour, "
	"and the sum of all others. Writes an SVG picture, or an HTML page in "
	"which the mouse shows the values of a moment. Both are single files "
	"that make no network requests. Or writes the values as CSV or JSON.",
	"Series are stacked areas if rows share no blocks. Otherwise, and for "
	"peaks, which do not add up, they are lines. Several traces, or a "
	"directory of traces, are a line each: in wall-clock time, or, if "
	"nothing was recorded most of the time, in time since each start.",
	"Live is measured at the end of a step; peak is the maximum within a "
	"step. All other values count events within a step; a temporary block "
	"counts in the step in which it is freed.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be "
	"read; 3: parts of the trace are missing or damaged: see standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon graph --by library -o live.svg",
	"live memory of each library over time",
	"gnomon graph --by file --cost temporary a.trace -o a.html",
	"which files allocated temporary blocks, and when, as a page",
	"gnomon graph --by thread --format csv > threads.csv",
	"all measures of threads over time, as a table",
	"gnomon graph before.trace after.trace -o both.svg",
	"two runs in one graph",
	NULL
};

static const struct command_group *const groups[] = {
	&trace_args_model_options, &trace_args_index,
	&trace_args_symbols, &filter_options, NULL
};

static const struct command_option options[] = {
	{ COST, "cost", 'c', COMMAND_WORDS, "live",
	  "the value to draw; also selects the largest rows (for live and "
	  "peak, those with most at the peak); %s" },
	{ BY, "by", 'b', COMMAND_LIST, "site", "key of the series; %s" },
	{ TOP, "top", 'n', "N", "9",
	  "number of series besides \"others\"; 0: all" },
	{ STEPS, "steps", 0, "N", "256",
	  "number of equal time steps, 2048 at most" },
	{ FORMAT, "format", 'f', "svg|html|csv|json", NULL,
	  "output format (default: by the output's name, or svg)" },
	{ LAYOUT, "layout", 0, "stacked|lines", NULL,
	  "stacked areas, or lines; can be changed on a page (default: "
	  "stacked, if the series add up)" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the result to FILE" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_words choices[] = {
	{ COST, measure_words_exported },
	{ BY, query_key_word },
	{ 0, NULL },
};

const struct command cmd_graph = {
	.name = "graph",
	.operands = "[TRACE...]",
	.summary = "draw live or allocated memory over time",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_graph,
};
