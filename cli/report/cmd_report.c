/*
 * cmd_report.c: `gnomon report`: reads traces and prints who holds, leaks and
 * churns memory. Parses options, selects the report's parts and runs them. Main
 * thread.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/command/measure_words.h"
#include "cli/command/trace_args.h"
#include "cli/query/passes_needed.h"
#include "cli/report/report.h"
#include "cli/command/output_file.h"
#include "cli/report/report_processes.h"
#include "cli/report/report_request.h"
#include "cli/query/series.h"

enum { SORT = 1, BY, TREE, TOP, GROUPS_MAX, EXPLAIN, SIZES, PAGES, TIMELINE,
       STEPS,
       ALL, RUNTIME_FRAMES, MERGE, OUTPUT, JSON, CSV, FRAME_TABLE, NO_OWN_PEAKS,
       NO_HEAP, SKIP_EMPTY };

static const struct command_option options[] = {
	{ SORT, "sort", 's', COMMAND_WORDS, NULL,
	  "print only the table sorted by this; %s (tables of live, peak, "
	  "total, count and temporary; live with --json, --csv)" },
	{ BY, "by", 'b', COMMAND_LIST, NULL,
	  "what a row stands for; %s. Several words, as in library,thread: a "
	  "row for each combination (site; stack with --json, --csv)" },
	{ TREE, "tree", 't', "top-down|bottom-up", NULL,
	  "a tree of calls, by live or the measure of --sort: from the "
	  "outermost functions down to their callees, or from the sites up to "
	  "their callers" },
	{ TOP, "top", 'n', "N", NULL,
	  "rows of a table, 0 for all (10, or 3 in each of several tables; "
	  "1000 with --json; all processes); with --tree, children of each "
	  "node (8, if at least a hundredth of the whole; all with --json)" },
	{ GROUPS_MAX, "groups-max", 0, "N", "4000000",
	  "with --by thread, size and the like: keep separate measures for at "
	  "most N pairs of a stack and a value, 140 bytes of memory each; "
	  "further pairs are counted as unknown, and a message says so; 0: no "
	  "limit" },
	{ EXPLAIN, "explain", 0, NULL, NULL,
	  "read nothing, but print how often a trace would be read for this "
	  "report, and why" },
	{ SIZES, "sizes", 0, NULL, NULL,
	  "sizes and lifetimes of blocks, by powers of two; for one trace also "
	  "live memory over time, and bytes copied by realloc" },
	{ PAGES, "pages", 0, NULL, NULL,
	  "for one trace: the pages that live blocks lie on; rows by the pages "
	  "that they keep resident, however few bytes on them are live; and "
	  "the parts of resident memory at snapshots" },
	{ TIMELINE, "timeline", 0, NULL, NULL,
	  "for one trace: the largest rows over time, compared with all "
	  "others: as a table of live, for rows that held most at the peak, "
	  "or of the measure of --sort; with --json, all measures in each "
	  "row" },
	{ STEPS, "steps", 0, "N", NULL,
	  "with --timeline: divide the time into N steps of equal width, at "
	  "most 2048 (16; 64 with --json)" },
	{ ALL, "all", 'a', NULL, NULL,
	  "the whole summary and, if no table is selected, all tables, with "
	  "all frames of their stacks" },
	{ RUNTIME_FRAMES, "runtime-frames", 0, NULL, NULL,
	  "show frames that only lead to the program's code or away from it: "
	  "frames before main, of std::function and the like. Without this "
	  "option they are left out at the outer end of a stack, and folded "
	  "into one line elsewhere" },
	{ MERGE, "merge", 0, NULL, NULL,
	  "add up all traces: stacks with equal frames are one stack" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the report to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	{ CSV, "csv", 0, NULL, NULL,
	  "the rows, or nodes of a tree, as a CSV table for spreadsheets "
	  "and databases: all rows, unless --top is given" },
	{ FRAME_TABLE, "frame-table", 0, NULL, NULL,
	  "with --json: put each frame once into a list `frames`, and indexes "
	  "into it in each `stack`. Without it, all stacks of a large program "
	  "take hundreds of megabytes" },
	{ NO_OWN_PEAKS, "no-own-peaks", 0, NULL, NULL,
	  "with --json: omit the own peaks of rows, which take longest to "
	  "compute" },
	{ NO_HEAP, "no-heap", 0, NULL, NULL,
	  "with --json: omit live_heap from the summary, which examines each "
	  "live block" },
	{ SKIP_EMPTY, "skip-empty", 0, NULL, NULL,
	  "print nothing if no block is live" },
	COMMAND_COLOR_OPTION,
	COMMAND_COMMON_OPTIONS,
};

static const char *by_word(size_t n, const char **meaning)
{
	if (n != query_key_count)
		return query_key_word(n, meaning);
	*meaning = "one live block";
	return "block";
}

static const struct command_words choices[] = {
	{ BY, by_word },
	{ SORT, measure_words_all },
	{ 0, NULL },
};

static const struct command_group *const groups[] = {
	&trace_args_model_options,
	&trace_args_index,
	&trace_args_symbols,
	&filter_options,
	NULL
};

static int parse_option(void *owner, int id, const char *value)
{
	struct report_request *request = owner;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	switch (id) {
	case SORT:
		request->args.query.order = measure_words_take(value);
		request->report.one_key = true;
		break;
	case BY:
		request->report.by = value;
		break;
	case TOP:
		request->report.top_given = true;
		return quantity_parse_count(value, &request->report.top);
	case EXPLAIN:
		request->explain = true;
		break;
	case GROUPS_MAX:
		return quantity_parse_count(value,
					    &request->args.query.groups_max);
	case TREE:
		request->report.tree = strcmp(value, "top-down") == 0 ?
			REPORT_TREE_TOP_DOWN : REPORT_TREE_BOTTOM_UP;
		break;
	case SIZES:
		request->report.sizes = true;
		break;
	case PAGES:
		request->report.pages = true;
		break;
	case TIMELINE:
		request->report.timeline = true;
		break;
	case STEPS:
		return series_parse_steps(value, &request->report.steps);
	case ALL:
		request->report.all = request->report.runtime_frames = true;
		break;
	case RUNTIME_FRAMES:
		request->report.runtime_frames = true;
		break;
	case MERGE:
		request->merge = true;
		break;
	case OUTPUT:
		request->output = value;
		break;
	case JSON:
		request->json = true;
		break;
	case CSV:
		request->csv = true;
		break;
	case FRAME_TABLE:
		request->report.frame_table = true;
		break;
	case NO_OWN_PEAKS:
		request->report.no_own_peaks = true;
		break;
	case NO_HEAP:
		request->report.no_heap = true;
		break;
	case SKIP_EMPTY:
		request->skip_empty = true;
		break;
	}
	return 0;
}

/* ---- one trace ---- */

/* A trace's model, its frames and its stack filter. */
struct opened {
	struct model *model;
	struct frames frames;
	struct stack_filter *filter;
};

static void close_trace(struct opened *opened)
{
	stack_filter_free(opened->filter);
	frames_free(&opened->frames);
	model_free(opened->model);
}

/* The heap of allocations that are only counted is unknown. */
static void note_heaps(const struct report *report)
{
	const struct coverage *coverage = &report->about.coverage;
	uint64_t sums = coverage->left_out.allocations +
		coverage->unrecorded.allocations;

	if (sums > 0)
		notes_hint(log_notes(), "%s: for %s only sums are known: they "
			   "are in no heap's row", report->about.trace,
			   COUNTED(sums, "allocation"));
}

/* A sample's blocks do not show which pages all blocks keep. */
static bool has_pages(const struct report_request *request,
		      const struct model *model, const char *trace)
{
	if (!request->report.pages || !model_is_sampled(model))
		return true;
	log_error("%s: is a sample, and --pages needs all blocks: record it "
		  "without --sample", trace);
	return false;
}

/* Sets the report's members that come from a trace. EXIT_NOTHING: there is
 * nothing to close. */
static int open_trace(struct report_request *request, struct opened *opened,
		      const char *trace, struct report *report)
{
	int status;

	status = trace_args_model(&request->args, &opened->model, trace);
	if (status == EXIT_NOTHING)
		return status;
	trace_args_frames(&request->args, &opened->frames, opened->model);
	if (!has_pages(request, opened->model, trace) ||
	    !trace_args_stack_filter(&request->args, &opened->frames,
				     &opened->filter)) {
		close_trace(opened);
		return EXIT_NOTHING;
	}
	report->model = opened->model;
	report->frames = &opened->frames;
	report->end_ns = model_duration_ns(opened->model);
	report->keep = opened->filter ? stack_filter_keeps : NULL;
	report->keeper = opened->filter;
	report_about(report, trace);
	if (query_has_block_key(&request->args.query, BLOCK_KEY_HEAP))
		note_heaps(report);
	return status;
}

/* Whether rows need normalised stacks. */
static bool needs_profile(const struct report_request *request)
{
	return query_needs_profile(&request->args.query) ||
	       request->report.tree != REPORT_TREE_NONE;
}

static struct profile *new_profile(const struct report_request *request)
{
	bool by_process = query_has(&request->args.query, QUERY_OF_PROCESS);
	struct profile *profile = profile_new(by_process ?
		(unsigned)request->args.trace_count : 1);

	profile->fold = request->report.tree != REPORT_TREE_NONE;
	return profile;
}

static int report_one(struct report_request *request, struct report *report)
{
	static struct opened opened;
	struct query_process process;
	int status = open_trace(request, &opened, request->report.trace,
				report);

	if (status == EXIT_NOTHING)
		return status;
	if (request->skip_empty &&
	    model_totals(opened.model)->live_blocks == 0) {
		close_trace(&opened);
		report_process_free(&report->about);
		return status;
	}
	report->out = output_file_open(request->output);
	if (report->out == NULL)
		return EXIT_NOTHING;
	process = (struct query_process){ report->about.pid,
					  report->about.program };
	report->processes = &process;
	report->style = style_of(report->out);
	if (needs_profile(request)) {
		report->profile = new_profile(request);
		report->profile->with_costs = true;
		profile_add(report->profile, 0, report->frames, report->keep,
			    report->keeper);
		profile_seal(report->profile);
	}
	if (request->csv)
		report_csv(report);
	else if (request->json)
		report_json(report);
	else
		report_text(report);
	if (report->profile != NULL)
		profile_free(report->profile);
	close_trace(&opened);
	report_process_free(&report->about);
	return output_file_close(report->out, request->output, status);
}

/* ---- several traces ---- */

/* Reads all traces: into the table, and into the profile if there is one.
 * Returns the worst status, or EXIT_NOTHING if no trace could be read. */
static int read_all(struct report_request *request, struct report *report,
		    struct report_processes *processes)
{
	static struct opened opened;
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < request->args.trace_count; i++) {
		int one = open_trace(request, &opened,
				     request->args.traces[i], report);

		if (one != EXIT_COMPLETE)
			status = EXIT_PARTIAL;
		if (one == EXIT_NOTHING) {
			processes->unreadable++;
			continue;
		}
		report->about.side = report->profile == NULL ||
			report->profile->sides == 1 ? 0 : (unsigned)i;
		if (report->profile != NULL)
			profile_add(report->profile, report->about.side,
				    report->frames, report->keep,
				    report->keeper);
		report_processes_add(processes, report);
		close_trace(&opened);
	}
	report->model = NULL;
	report->frames = NULL;
	report->keep = NULL;
	return processes->count == 0 ? EXIT_NOTHING : status;
}

/* Processes by side of the profile; to be freed. */
static struct query_process *processes_of(const struct report_processes *from,
					  size_t count)
{
	struct query_process *processes = grow_zeroed(count,
						      sizeof(*processes));

	for (size_t i = 0; i < from->count; i++)
		processes[from->list[i].side] = (struct query_process){
			from->list[i].pid, from->list[i].program,
		};
	return processes;
}

static void print_all(struct report_request *request, struct report *report,
		      struct report_processes *processes)
{
	report_processes_sort(processes, report->profile == NULL &&
			      request->report.one_key,
			      request->args.query.order);
	if (report->profile != NULL) {
		profile_seal(report->profile);
		report->end_ns = report->profile->end_ns;
		report->processes = processes_of(processes,
						 request->args.trace_count);
		report_processes_sum(processes, &report->about);
	}
	if (request->csv)
		report_csv(report);
	else if (request->json)
		report_processes_json(processes, report);
	else
		report_processes_text(processes, report);
	free(report->processes);
	report->processes = NULL;
}

static int report_many(struct report_request *request, struct report *report)
{
	struct report_processes processes = { 0 };
	int status;

	if (request->merge)
		report->profile = new_profile(request);
	status = read_all(request, report, &processes);
	if (status != EXIT_NOTHING) {
		report->out = output_file_open(request->output);
		if (report->out == NULL)
			return EXIT_NOTHING;
		report->style = style_of(report->out);
		print_all(request, report, &processes);
		status = output_file_close(report->out, request->output, status);
	}
	if (report->profile != NULL)
		profile_free(report->profile);
	report_processes_free(&processes);
	return status;
}

/* ---- the command ---- */

static int explain(const struct report_request *request)
{
	struct query query = request->args.query;
	LOCAL_BUFFER text = { 0 };
	FILE *out = output_file_open(request->output);

	if (out == NULL)
		return EXIT_NOTHING;
	if (request->report.blocks ||
	    request->report.tree != REPORT_TREE_NONE || request->report.no_rows)
		query.key_count = 0;
	/* Several traces are each read only once. */
	if (request->args.many || request->merge) {
		query.all_figures = false;
		query.order = MEASURE_LIVE;
	}
	query_explain(&query, &text);
	if (!request->report.chosen && !request->report.all &&
	    !request->args.many && !request->merge)
		buffer_string(&text, "from a file once more, where code may "
			      "have grown steadily: rows over time\n");
	fputs(text.data, out);
	return output_file_close(out, request->output, EXIT_COMPLETE);
}

static int run_report(const struct command *command, int argc, char **argv)
{
	struct report_request request = { 0 };
	struct report report = {
		.options = &request.report, .places = &request.args.places,
	};
	int operands, status;

	trace_args_init(&request.args);
	request.args.query.groups_max = QUERY_GROUPS_MAX;
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (trace_args_find(&request.args, operands, argv + 1) &&
	    report_request_is_possible(&request)) {
		report_request_choose(&request);
		request.report.trace = !request.args.many ?
			request.args.traces[0] :
			operands == 1 ? argv[1] : "";
		if (request.explain)
			status = explain(&request);
		else if (request.args.many || request.merge)
			status = report_many(&request, &report);
		else
			status = report_one(&request, &report);
	}
	if (status != EXIT_NOTHING && !request.explain)
		filter_report_unmatched(request.args.query.filter,
					log_notes());
	free(report.scratch);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Reads a trace and prints, on one screen: findings (what leaked, what "
	"grew, who held the peak, what churned, whose blocks keep pages "
	"resident, what is missing), a summary, and the table for the most "
	"important finding. --all prints the whole summary, and tables of the "
	"code that holds the most memory at the end, held the most at the "
	"peak, allocated the most bytes, allocated most often, and allocated "
	"the most temporary blocks (freed before their thread's next "
	"allocation). Options that select a table print only that table, after "
	"the summary.",
	"TRACE is a file written by `gnomon run`, even while it is still being "
	"written, or the id of a process being recorded. Without TRACE, the "
	"newest trace in the current directory is read. For a directory, or "
	"several files, a table of processes is printed: the parent, the peak, "
	"the last live memory and the end of each; --merge adds up their "
	"allocations.",
	"Live blocks are not freed yet: now, at the end, or at --alive-at. "
	"Peak is what a row held at the moment when the program's live bytes "
	"were largest; the peaks of all rows add up to the program's. Own-peak "
	"is the most that a row held at any time; own peaks do not add up. "
	"Total counts all bytes ever allocated. Temporary blocks were freed "
	"soon (--temporary). Lifetime is the mean of the freed blocks. Age is "
	"the time since a row's first allocation. Freed counts the bytes of "
	"blocks that were freed, moved by realloc, or lost (their memory was "
	"allocated again, although no free was seen). With filters, summary "
	"and rows count only blocks that match all of them.",
	"If recording was started, stopped or cleared, only events after the "
	"last start or clear count; with --from start, all events. Blocks from "
	"before are neither live nor leaked, and their frees are called "
	"foreign. If a directory has a trace in parts (`gnomon run --limit`), "
	"the newest part is read, which has the sums of all parts.",
	"A finding is printed if it exceeds a threshold. Leaks: 5% of the "
	"peak, or 1000 blocks and 1% of the peak. Steady growth: 5% of the "
	"peak. Fragmentation: 25% of resident memory on pages with few live "
	"bytes. Temporary blocks: 20% of all allocations. To find growth, a "
	"trace of more than a second is read once more.",
	"--json prints one object. `summary` has the measures of the summary; "
	"`findings` the findings, if no table is selected; `coverage` how many "
	"of all allocations are counted, and what is missing; `rows` the "
	"table, sorted by --sort. Bytes, blocks and nanoseconds are integers. "
	"A tree's rows have a `depth`; each comes before its children. A "
	"`stack` lists its frames innermost first; with --frame-table they are "
	"indexes into `frames`. --sizes adds `sizes`, `lifetimes` and `chains` "
	"(of reallocs) to the whole and to each row, and a `timeline` of at "
	"most 2048 steps, but none with stack filters. --pages adds `pages`: "
	"of all live blocks, and of each row the pages that it keeps; and "
	"`residency`, whose parts add up to `rss_bytes`. --timeline adds a "
	"`timeline` to each row, an array of steps; `timeline_others` and "
	"`timeline_all` are those of all other blocks, and of the whole; a "
	"step is `timeline_step_ns` long.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be read; "
	"3: parts of the trace were missing or damaged, as standard error "
	"says.",
	NULL
};

static const char *const examples[] = {
	"gnomon report", "the findings in the newest trace here",
	"gnomon report --all a.trace", "all tables",
	"gnomon report --sort peak --by stack --top 3 a.trace",
	"the three call stacks that held most at the program's peak",
	"gnomon report --tree top-down --sort total --function '^parse_'",
	"allocations of functions whose names begin with parse_, as a tree",
	"gnomon report --alive-at 50% --by library,thread",
	"what was live half way, by library and thread",
	"gnomon report --pages --alive-at 90%",
	"code whose few small blocks keep pages from being given back",
	"gnomon report --timeline --by file --sort temporary",
	"which files allocated temporary blocks, and when",
	"gnomon report --by block --size-min 1M",
	"every live block of at least a megabyte: its address, age and stack",
	"gnomon report --merge traces/", "a directory of processes, added up",
	"gnomon report --json a.trace | jq .summary", "only the summary",
	"gnomon report --json --frame-table --top 0 a.trace > all.json",
	"all stacks, with each frame only once",
	NULL
};

const struct command cmd_report = {
	.name = "report",
	.operands = "[TRACE...]",
	.summary = "show which code holds, leaks and churns memory",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_report,
};
