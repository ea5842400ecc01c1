/*
 * cmd_report.c: `gnomon report`: read a trace, print who holds, leaks and
 * churns memory. Runs in the main thread; everything else does the work.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/tell.h"
#include "cli/commands.h"
#include "cli/command/figure_words.h"
#include "cli/command/reading.h"
#include "cli/query/passes_needed.h"
#include "cli/report/report.h"
#include "cli/command/output_file.h"
#include "cli/report/report_processes.h"
#include "cli/query/series.h"

enum { SORT = 1, BY, TREE, TOP, GROUPS_MAX, EXPLAIN, SIZES, PAGES, TIMELINE,
       STEPS,
       ALL, RUNTIME_FRAMES, MERGE, OUTPUT, JSON, CSV, FRAME_TABLE, NO_OWN_PEAKS,
       NO_HEAP, SKIP_EMPTY };

static const struct command_option options[] = {
	{ SORT, "sort", 's', COMMAND_WORDS, NULL,
	  "only the table sorted by this; %s (tables of live, peak, total, "
	  "count and temporary; live with --json, --csv)" },
	{ BY, "by", 'b', COMMAND_LIST, NULL,
	  "what a row is; %s. Several, as in library,thread: a row for each "
	  "combination (site; stack with --json, --csv)" },
	{ TREE, "tree", 't', "top-down|bottom-up", NULL,
	  "a tree of calls, by live or what --sort says: from the outermost "
	  "functions down to what they called, or from the sites up to who "
	  "called them" },
	{ TOP, "top", 'n', "N", NULL,
	  "rows of a table, 0 for all (10, or 3 of each of several; 1000 with "
	  "--json; all processes); of a tree, branches side by side (8, and "
	  "none below a hundredth of the whole; all with --json)" },
	{ GROUPS_MAX, "groups-max", 0, "N", "4000000",
	  "with --by thread, size and the like: figures are kept apart for so "
	  "many pairs of a stack and their values, 140 bytes each; what comes "
	  "after them is told as not known, and said; 0: for all" },
	{ EXPLAIN, "explain", 0, NULL, NULL,
	  "read nothing, but say how often a trace would be read for this, and "
	  "what for" },
	{ SIZES, "sizes", 0, NULL, NULL,
	  "how many blocks were how large, and how long they lived, by powers "
	  "of two; of one trace also what was live over time, and what realloc "
	  "copied" },
	{ PAGES, "pages", 0, NULL, NULL,
	  "of one trace, on which pages of memory the live blocks lie; rows by "
	  "the pages that they keep, however little of them is live; and what "
	  "resident memory consisted of, at snapshots" },
	{ TIMELINE, "timeline", 0, NULL, NULL,
	  "of one trace, what the largest rows had or did over time, beside all "
	  "others: as a table, of live or what --sort says; with --json, all "
	  "figures in each row" },
	{ STEPS, "steps", 0, "N", NULL,
	  "with --timeline: into so many steps of equal width the time is cut, "
	  "2048 at most (16; 64 with --json)" },
	{ ALL, "all", 'a', NULL, NULL,
	  "the whole summary and, where no table is chosen, all of them, with "
	  "all frames of their stacks" },
	{ RUNTIME_FRAMES, "runtime-frames", 0, NULL, NULL,
	  "show frames that only lead to the program's code, or on from it: "
	  "those before main, of std::function and the like; they are left "
	  "out at the outer end of a stack, elsewhere folded into a line" },
	{ MERGE, "merge", 0, NULL, NULL,
	  "sum up all the traces: stacks are one if they read the same" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the report to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	{ CSV, "csv", 0, NULL, NULL,
	  "the rows, or branches of a tree, as a table for spreadsheets and "
	  "databases: all of them, but for --top" },
	{ FRAME_TABLE, "frame-table", 0, NULL, NULL,
	  "with --json: each frame once, in a list `frames`, and in a `stack` "
	  "its index there: for all stacks of a large program, which are "
	  "hundreds of megabytes else" },
	{ NO_OWN_PEAKS, "no-own-peaks", 0, NULL, NULL,
	  "with --json: rows without their own peaks, which take longest to "
	  "find out" },
	{ NO_HEAP, "no-heap", 0, NULL, NULL,
	  "with --json: a summary without live_heap, for which each live block "
	  "is looked at" },
	{ SKIP_EMPTY, "skip-empty", 0, NULL, NULL,
	  "print nothing if nothing is live" },
	COMMAND_COLOR_OPTION,
	COMMAND_COMMON_OPTIONS,
};

static const char *by_word(size_t n, const char **meaning)
{
	if (n != query_key_count)
		return query_key_word(n, meaning);
	*meaning = "one block that is live";
	return "block";
}

static const struct command_words choices[] = {
	{ BY, by_word },
	{ SORT, figure_words_all },
	{ 0, NULL },
};

static const struct command_group *const groups[] = {
	&reading_model_options,
	&reading_index,
	&reading_symbols,
	&filter_options,
	NULL
};

struct request {
	struct report_options report;
	struct reading reading;
	const char *output;
	bool json;
	bool csv;
	bool explain;
	bool merge;
	bool skip_empty;
};

static int take(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (reading_has(id))
		return reading_take(&request->reading, id, value);
	switch (id) {
	case SORT:
		request->reading.query.order = figure_words_take(value);
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
					    &request->reading.query.groups_max);
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

/* A trace's model, its frames and what its filter keeps. */
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

/* Of what is only summed up, nobody knows in which heap it was. */
static void note_heaps(const struct report *report)
{
	const struct coverage *coverage = &report->about.coverage;
	uint64_t sums = coverage->left_out.allocations +
		coverage->unrecorded.allocations;

	if (sums > 0)
		notes_hint(tell_notes(), "%s: of %s only sums are known: they "
			   "are in no heap's row", report->about.trace,
			   COUNTED(sums, "allocation"));
}

/* Where a sample's blocks lie says nothing of the pages of all. */
static bool has_pages(const struct request *request, const struct model *model,
		      const char *trace)
{
	if (!request->report.pages || !model_is_sampled(model))
		return true;
	tell_error("%s: is a sample, and --pages needs all blocks: record it "
		   "without --sample", trace);
	return false;
}

/* Fills in the report's parts that come from a trace. EXIT_NOTHING: there is
 * nothing to close. */
static int open_trace(struct request *request, struct opened *opened,
		      const char *trace, struct report *report)
{
	int status;

	status = reading_model(&request->reading, &opened->model, trace);
	if (status == EXIT_NOTHING)
		return status;
	reading_frames(&request->reading, &opened->frames, opened->model);
	if (!has_pages(request, opened->model, trace) ||
	    !reading_stack_filter(&request->reading, &opened->frames,
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
	if (query_has_block_key(&request->reading.query, BLOCK_KEY_HEAP))
		note_heaps(report);
	return status;
}

/* Rows by what only the normalised stacks tell. */
static bool needs_profile(const struct request *request)
{
	return query_needs_profile(&request->reading.query) ||
	       request->report.tree != REPORT_TREE_NONE;
}

static struct profile *new_profile(const struct request *request)
{
	bool by_process = query_has(&request->reading.query, QUERY_OF_PROCESS);
	struct profile *profile = profile_new(by_process ?
		(unsigned)request->reading.trace_count : 1);

	profile->fold = request->report.tree != REPORT_TREE_NONE;
	return profile;
}

static int report_one(struct request *request, struct report *report)
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

/* ---- several ---- */

/* Reads them all: into the table, and into the profile if there is one. The
 * worst status, or EXIT_NOTHING if none could be read. */
static int read_all(struct request *request, struct report *report,
		    struct report_processes *processes)
{
	static struct opened opened;
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < request->reading.trace_count; i++) {
		int one = open_trace(request, &opened,
				     request->reading.traces[i], report);

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

/* By the profile's sides; to be freed. */
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

static void print_all(struct request *request, struct report *report,
		      struct report_processes *processes)
{
	report_processes_sort(processes, report->profile == NULL &&
			      request->report.one_key,
			      request->reading.query.order);
	if (report->profile != NULL) {
		profile_seal(report->profile);
		report->end_ns = report->profile->end_ns;
		report->processes = processes_of(processes,
						 request->reading.trace_count);
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

static int report_many(struct request *request, struct report *report)
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

/* ---- what was asked for ---- */

static void tell_no_sum(const char *key)
{
	LOCAL_BUFFER sums = { 0 };

	figure_words_list(&sums, FIGURE_SUMS);
	tell_error("--tree --sort %s: no sum of these means anything: sort by "
		   "%s", key, sums.data);
}

/* With --timeline? */
static bool fits_time(const struct request *request)
{
	const struct report_options *wanted = &request->report;
	enum figure order = request->reading.query.order;

	if (!wanted->timeline && wanted->steps != 0)
		tell_error("--steps: is for --timeline: add that");
	else if (!wanted->timeline)
		return true;
	else if (request->reading.many || request->merge)
		tell_error("--timeline: only of one trace, without --merge: "
			   "`gnomon graph` draws several");
	else if (wanted->tree != REPORT_TREE_NONE || wanted->blocks)
		tell_error("--timeline %s: rows over time are those of groups: "
			   "leave out one of them", wanted->blocks ?
			   "--by block" : "--tree");
	else if (!series_has(order))
		tell_error("--timeline --sort %s: of this there is nothing to "
			   "tell over time: sort by live, peak, own-peak, "
			   "total, count or temporary",
			   figure_kinds[order].name);
	else if (query_is_of_moment(&request->reading.query))
		tell_error("--timeline --alive-at: at a moment there is no "
			   "time that passes: leave out one of them");
	else
		return model_can_be_read_again(request->reading.traces[0],
					       tell_notes());
	return false;
}

/* With --pages? */
static bool fits_pages(const struct request *request)
{
	const struct report_options *wanted = &request->report;
	const char *other = wanted->tree != REPORT_TREE_NONE ? "--tree" :
		wanted->blocks ? "--by block" :
		wanted->sizes ? "--sizes" : wanted->timeline ? "--timeline" :
		wanted->one_key ? "--sort" : NULL;

	if (!wanted->pages)
		return true;
	if (other != NULL)
		tell_error("--pages %s: rows are in the order of the pages that "
			   "they keep: leave out one of them", other);
	else if (request->csv)
		tell_error("--pages --csv: see --json");
	else if (request->reading.many || request->merge)
		tell_error("--pages: only of one trace, without --merge");
	else if (query_inclusive(&request->reading.query) != NULL)
		tell_error("--pages --by %s: such rows have blocks in common, "
			   "and a page is divided", wanted->by);
	else
		return model_can_be_read_again(request->reading.traces[0],
					       tell_notes());
	return false;
}

/* Do the options fit together? */
static bool fits(const struct request *request)
{
	const struct report_options *wanted = &request->report;
	enum figure order = request->reading.query.order;
	const char *name = figure_kinds[order].name;

	if (wanted->tree != REPORT_TREE_NONE && wanted->one_key &&
	    !figures_have(order, FIGURE_SUMS))
		tell_no_sum(name);
	else if (wanted->tree != REPORT_TREE_NONE && request->report.by != NULL)
		tell_error("--tree --by %s: a tree is by function: leave out "
			   "one of them", request->report.by);
	else if (wanted->blocks && wanted->one_key && order != FIGURE_LIVE &&
		 order != FIGURE_AGE)
		tell_error("--by block --sort %s: blocks are sorted by size "
			   "(live) or age", name);
	else if (query_inclusive(&request->reading.query) != NULL &&
		 order == FIGURE_OWN_PEAK)
		tell_error("--by %s --sort %s: such rows have blocks in "
			   "common, and no peak of their own: sort by peak",
			   request->report.by, name);
	else if (request->csv && (request->json || wanted->sizes))
		tell_error("--csv --%s: a table has rows alone: leave out one of "
			   "them", request->json ? "json" : "sizes");
	else if (request->csv && wanted->timeline)
		tell_error("--csv --timeline: see gnomon graph --format csv");
	else if (request->csv && wanted->blocks)
		tell_error("--csv --by block: see gnomon export --format csv "
			   "--by block");
	else if ((request->csv || request->json) && wanted->runtime_frames)
		tell_error("--%s --%s: has all frames, and all that there is: "
			   "leave out the second",
			   request->csv ? "csv" : "json",
			   wanted->all ? "all" : "runtime-frames");
	else if (wanted->frame_table && !request->json)
		tell_error("--frame-table: is for JSON: add --json");
	else if (wanted->no_heap && !request->json)
		tell_error("--no-heap: is for JSON: add --json");
	else if (wanted->no_own_peaks && !request->json)
		tell_error("--no-own-peaks: is for JSON: add --json");
	else if (wanted->no_own_peaks && order == FIGURE_OWN_PEAK &&
		 wanted->one_key)
		tell_error("--no-own-peaks --sort own-peak: leave out one of "
			   "them");
	else if (wanted->frame_table && wanted->tree != REPORT_TREE_NONE)
		tell_error("--frame-table --tree: a tree has no stacks: leave "
			   "out one of them");
	else
		return fits_pages(request) && fits_time(request);
	return false;
}

/* Of several traces. */
static bool fits_many(const struct request *request)
{
	const char *sum = request->csv ? "--csv" :
		request->report.tree != REPORT_TREE_NONE ? "--tree" :
		request->report.sizes ? "--sizes" : NULL;

	if (request->report.blocks ||
	    query_has(&request->reading.query, QUERY_OF_BLOCK))
		tell_error("--by %s: only of one trace: %s", request->report.by,
			   request->reading.many ? "name one" :
			   "leave out --merge");
	else if (!request->merge && request->report.by != NULL)
		tell_error("--by %s: of several traces, only as a sum: add "
			   "--merge", request->report.by);
	else if (!request->merge && sum != NULL)
		tell_error("%s: of several traces, only as a sum: add "
			   "--merge", sum);
	else
		return true;
	return false;
}

/* What rows are by. False: it makes no sense, which has been said. */
static bool parse_by(struct request *request)
{
	struct query *query = &request->reading.query;
	LOCAL_BUFFER why = { 0 };
	bool good = true;

	request->report.blocks = request->report.by != NULL &&
		strcmp(request->report.by, "block") == 0;
	if (request->report.by != NULL && !request->report.blocks)
		good = query_parse_keys(query, request->report.by, &why);
	else
		*query->keys = request->json || request->csv ? query_key_stack() :
					       query_key_site();
	if (query->key_count == 0)
		query->key_count = 1;
	if (!good)
		tell_error("--by %s: %s", request->report.by, why.data);
	/* Those of the program's own are left out else. */
	if (good && query_has_block_key(query, BLOCK_KEY_HEAP) &&
	    !filter_has(request->reading.query.filter, FILTER_HEAP,
			FILTER_HEAP))
		good = reading_take(&request->reading, FILTER_HEAP, ".") == 0;
	return good;
}

static bool is_possible(struct request *request)
{
	return parse_by(request) && fits(request) &&
	       ((!request->reading.many && !request->merge) ||
		fits_many(request));
}

/* Of a model: enum model_want. */
static unsigned wants_of(const struct request *request)
{
	bool stacks = filter_has_stacks(request->reading.query.filter);
	unsigned wants = 0;

	if (request->report.sizes && !request->reading.many && !request->merge)
		wants |= MODEL_WANT_TIMELINE | MODEL_WANT_CHAINS;
	if (request->json || stacks)
		wants |= MODEL_WANT_FREED_BY;
	if (request->report.pages)
		wants |= MODEL_WANT_MAPS;
	/* Stacks are filtered, or rows get theirs. */
	if (request->report.sizes && (request->json || stacks))
		wants |= MODEL_WANT_HISTOGRAMS;
	return wants;
}

static void settle(struct request *request)
{
	struct report_options *wanted = &request->report;
	struct query *query = &request->reading.query;

	wanted->no_rows = (wanted->sizes || wanted->timeline) &&
		!wanted->one_key && request->report.by == NULL &&
		wanted->tree == REPORT_TREE_NONE;
	wanted->chosen = request->csv || wanted->one_key ||
		request->report.by != NULL ||
		wanted->tree != REPORT_TREE_NONE || wanted->sizes ||
		wanted->pages || wanted->timeline ||
		(wanted->top_given && !request->json);
	wanted->full_names = request->reading.full_names;
	query->wants = wants_of(request);
	query->all_figures = request->json || request->csv;
	query->spares = (query->all_figures && !wanted->no_own_peaks ?
			 0 : QUERY_SPARES_OWN_PEAKS) |
			/* a summary in words says how long blocks lived */
			(query->all_figures && !wanted->sizes ?
			 QUERY_SPARES_SIZES : 0) |
			(wanted->no_heap && !wanted->blocks && !wanted->pages ?
			 QUERY_SPARES_BLOCKS : 0);
	query->over_time = wanted->timeline;
	query->at_snapshots = wanted->pages;
	wanted->query = query;
}

static int explain(const struct request *request)
{
	struct query query = request->reading.query;
	LOCAL_BUFFER text = { 0 };
	FILE *out = output_file_open(request->output);

	if (out == NULL)
		return EXIT_NOTHING;
	if (request->report.blocks ||
	    request->report.tree != REPORT_TREE_NONE || request->report.no_rows)
		query.key_count = 0;
	/* Several are read one after the other, and no more. */
	if (request->reading.many || request->merge) {
		query.all_figures = false;
		query.order = FIGURE_LIVE;
	}
	query_explain(&query, &text);
	if (!request->report.chosen && !request->report.all &&
	    !request->reading.many && !request->merge)
		buffer_string(&text, "from a file once more, where code may "
			      "have grown steadily: rows over time\n");
	fputs(text.data, out);
	return output_file_close(out, request->output, EXIT_COMPLETE);
}

static int run_report(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	struct report report = {
		.options = &request.report, .places = &request.reading.places,
	};
	int operands, status;

	reading_init(&request.reading);
	request.reading.query.groups_max = QUERY_GROUPS_MAX;
	if (!command_parse(command, argc, argv, take, &request, &operands,
			   &status))
		return status;
	status = EXIT_NOTHING;
	if (reading_find(&request.reading, operands, argv + 1) &&
	    is_possible(&request)) {
		settle(&request);
		request.report.trace = !request.reading.many ?
			request.reading.traces[0] :
			operands == 1 ? argv[1] : "";
		if (request.explain)
			status = explain(&request);
		else if (request.reading.many || request.merge)
			status = report_many(&request, &report);
		else
			status = report_one(&request, &report);
	}
	if (status != EXIT_NOTHING && !request.explain)
		filter_tell_unmatched(request.reading.query.filter,
				      tell_notes());
	free(report.scratch);
	reading_free(&request.reading);
	return status;
}

static const char *const description[] = {
	"Reads a trace and prints, on one screen, what stands out (what "
	"leaked, what grew, who held the peak, what churned, whose blocks keep "
	"pages, what is missing), a summary, and the table that tells most of "
	"it. --all has the whole summary, and tables of the places in the "
	"program that hold the most memory at the end, held the most at its "
	"peak, allocated the most bytes, allocated most often, and allocated "
	"the most temporary blocks (freed before their thread's next "
	"allocation). Options that choose a table print that alone, behind the "
	"summary.",
	"TRACE is a file that `gnomon run` wrote, also while it is still being "
	"written, or the number of a process that is being recorded; left out, "
	"it is the newest trace in this directory. A directory, or several "
	"files, are printed as a table of processes: who started whom, what "
	"each held at most and at its end, how it ended; --merge sums up what "
	"they allocated.",
	"Live is what was not freed: now, at the end, or at --alive-at. Peak is "
	"a row's share of the moment when the program held most, and adds up; "
	"own-peak is the most that the row itself held at any time, and does "
	"not. Total counts all bytes ever allocated. Temporary blocks were "
	"freed soon (--temporary). Lifetime is the mean of the blocks that were "
	"freed, age the time since a row's first allocation, freed the bytes "
	"of blocks that are gone: freed, moved, or lost, whose memory was "
	"given out again though no free was seen. With filters, "
	"summary and rows count the blocks that all of them let pass.",
	"Of a recording that was started, stopped or cleared, what came after "
	"the last start or clear counts; with --from start, everything. Blocks "
	"from before are neither live nor leaked, and their frees are called "
	"foreign. Of one that is kept in parts, a directory means the last "
	"part, which has the sums of all.",
	"Findings matter from some size on: a leak that is a twentieth of the "
	"peak (or a thousand blocks, a hundredth), steady growth of as much, a "
	"quarter of resident memory in pages that few bytes keep, a fifth of "
	"all allocations temporary. To know what grew, a trace of more than a "
	"second is read once more.",
	"With --json, one object: `summary` has the figures of the summary, "
	"`findings`, where no table is chosen, what stands out, "
	"`coverage` of how many of all allocations they tell, and what is "
	"missing, `rows` the table, sorted by --sort. Bytes, blocks and nanoseconds are "
	"integers. Trees are rows with a `depth`, each before what lies behind "
	"it. Frames of a `stack` stand from the innermost outward; with "
	"--frame-table they are indexes into `frames`. --sizes adds `sizes`, "
	"`lifetimes` and `chains` (of reallocs) to the whole and to each row, "
	"and a `timeline` of at most 2048 steps, which filters of stacks leave "
	"out. --pages adds `pages`: of all live blocks, and of each row what it "
	"keeps; and `residency`, whose parts add up to `rss_bytes`. --timeline "
	"adds a `timeline` to each row, an array of steps; "
	"`timeline_others` and `timeline_all` are those of all other blocks, "
	"and of the whole; a step is `timeline_step_ns` long.",
	"Exit status: 0 all was read; 2 wrong use, or nothing could be read; 3 "
	"parts of the trace were missing or damaged, which is said on standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon report", "what stands out in the newest trace here",
	"gnomon report --all a.trace", "all tables",
	"gnomon report --sort peak --by stack --top 3 a.trace",
	"the three call stacks that held most when the program was largest",
	"gnomon report --tree top-down --sort total --function '^parse_'",
	"what the functions whose names begin like this allocated, as a tree",
	"gnomon report --alive-at 50% --by library,thread",
	"what was live half way, by library and thread",
	"gnomon report --pages --alive-at 90%",
	"whose few small blocks keep which pages from being given back",
	"gnomon report --timeline --by file --sort temporary",
	"which files made temporary blocks, and when",
	"gnomon report --by block --size-min 1M",
	"every live block of a megabyte and more: its address, age and stack",
	"gnomon report --merge traces/", "a directory of processes, as one",
	"gnomon report --json a.trace | jq .summary", "the figures alone",
	"gnomon report --json --frame-table --top 0 a.trace > all.json",
	"all stacks; each frame is once in it",
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
