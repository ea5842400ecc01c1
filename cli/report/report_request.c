/*
 * report_request.c: see report_request.h. Options that contradict each other
 * are refused with what to do instead, never ignored.
 */
#include "cli/report/report_request.h"

#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/command/measure_words.h"
#include "cli/query/series.h"

static void report_no_sum(const char *key)
{
	LOCAL_BUFFER sums = { 0 };

	measure_words_list(&sums, MEASURE_SUMS);
	log_error("--tree --sort %s: a sum of these is meaningless: sort by "
		  "%s", key, sums.data);
}

/* Whether the options fit --timeline, or need none. */
static bool fits_time(const struct report_request *request)
{
	const struct report_options *wanted = &request->report;
	enum measure order = request->args.query.order;

	if (!wanted->timeline && wanted->steps != 0)
		log_error("--steps: needs --timeline: add it");
	else if (!wanted->timeline)
		return true;
	else if (request->args.many || request->merge)
		log_error("--timeline: reads only one trace, without --merge: "
			  "`gnomon graph` draws several");
	else if (wanted->tree != REPORT_TREE_NONE || wanted->blocks)
		log_error("--timeline %s: a timeline has groups as rows: "
			  "leave out one of them", wanted->blocks ?
			  "--by block" : "--tree");
	else if (!series_has(order))
		log_error("--timeline --sort %s: this has no values over "
			  "time: sort by live, peak, own-peak, total, count "
			  "or temporary",
			  measure_kinds[order].name);
	else if (query_is_of_moment(&request->args.query))
		log_error("--timeline --alive-at: a moment has no timeline: "
			  "leave out one of them");
	else
		return model_can_be_read_again(request->args.traces[0],
					       log_notes());
	return false;
}

/* Whether the options fit --pages, or there is none. */
static bool fits_pages(const struct report_request *request)
{
	const struct report_options *wanted = &request->report;
	const char *other = wanted->tree != REPORT_TREE_NONE ? "--tree" :
		wanted->blocks ? "--by block" :
		wanted->sizes ? "--sizes" : wanted->timeline ? "--timeline" :
		wanted->one_key ? "--sort" : NULL;

	if (!wanted->pages)
		return true;
	if (other != NULL)
		log_error("--pages %s: rows are sorted by the pages that they "
			  "keep: leave out one of them", other);
	else if (request->csv)
		log_error("--pages --csv: not available: use --json");
	else if (request->args.many || request->merge)
		log_error("--pages: reads only one trace, without --merge");
	else if (query_inclusive(&request->args.query) != NULL)
		log_error("--pages --by %s: such rows share blocks, so pages "
			  "cannot be divided among them", wanted->by);
	else
		return model_can_be_read_again(request->args.traces[0],
					       log_notes());
	return false;
}

/* Whether the options are compatible. */
static bool options_are_consistent(const struct report_request *request)
{
	const struct report_options *wanted = &request->report;
	enum measure order = request->args.query.order;
	const char *name = measure_kinds[order].name;

	if (wanted->tree != REPORT_TREE_NONE && wanted->one_key &&
	    !figures_have(order, MEASURE_SUMS))
		report_no_sum(name);
	else if (wanted->tree != REPORT_TREE_NONE && request->report.by != NULL)
		log_error("--tree --by %s: a tree is always by function: "
			  "leave out one of them", request->report.by);
	else if (wanted->blocks && wanted->one_key && order != MEASURE_LIVE &&
		 order != MEASURE_AGE)
		log_error("--by block --sort %s: blocks are sorted by size "
			  "(live) or age", name);
	else if (query_inclusive(&request->args.query) != NULL &&
		 order == MEASURE_OWN_PEAK)
		log_error("--by %s --sort %s: such rows share blocks and have "
			  "no peak of their own: sort by peak",
			  request->report.by, name);
	else if (request->csv && (request->json || wanted->sizes))
		log_error("--csv --%s: a CSV table has only rows: leave out "
			  "one of them", request->json ? "json" : "sizes");
	else if (request->csv && wanted->timeline)
		log_error("--csv --timeline: use gnomon graph --format csv");
	else if (request->csv && wanted->blocks)
		log_error("--csv --by block: use gnomon export --format csv "
			  "--by block");
	else if ((request->csv || request->json) && wanted->runtime_frames)
		log_error("--%s --%s: this output always has all frames and "
			  "all parts: leave out the second",
			  request->csv ? "csv" : "json",
			  wanted->all ? "all" : "runtime-frames");
	else if (wanted->frame_table && !request->json)
		log_error("--frame-table: needs --json: add it");
	else if (wanted->no_heap && !request->json)
		log_error("--no-heap: needs --json: add it");
	else if (wanted->no_own_peaks && !request->json)
		log_error("--no-own-peaks: needs --json: add it");
	else if (wanted->no_own_peaks && order == MEASURE_OWN_PEAK &&
		 wanted->one_key)
		log_error("--no-own-peaks --sort own-peak: leave out one of "
			  "them");
	else if (wanted->frame_table && wanted->tree != REPORT_TREE_NONE)
		log_error("--frame-table --tree: a tree has no stacks: leave "
			  "out one of them");
	else
		return fits_pages(request) && fits_time(request);
	return false;
}

/* Whether the options fit several traces. */
static bool fits_many(const struct report_request *request)
{
	const char *sum = request->csv ? "--csv" :
		request->report.tree != REPORT_TREE_NONE ? "--tree" :
		request->report.sizes ? "--sizes" : NULL;

	if (request->report.blocks ||
	    query_has(&request->args.query, QUERY_OF_BLOCK))
		log_error("--by %s: needs one trace: %s", request->report.by,
			  request->args.many ? "name one" :
			  "leave out --merge");
	else if (!request->merge && request->report.by != NULL)
		log_error("--by %s: several traces must be added up for this: "
			  "add --merge", request->report.by);
	else if (!request->merge && sum != NULL)
		log_error("%s: several traces must be added up for this: add "
			  "--merge", sum);
	else
		return true;
	return false;
}

/* Parses --by. False: it is invalid, which was logged. */
static bool parse_by(struct report_request *request)
{
	struct query *query = &request->args.query;
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
		log_error("--by %s: %s", request->report.by, why.data);
	/* Without this filter, blocks of the program's own heaps are left
	 * out. */
	if (good && query_has_block_key(query, BLOCK_KEY_HEAP) &&
	    !filter_has(request->args.query.filter, FILTER_HEAP,
			FILTER_HEAP))
		good = trace_args_take(&request->args, FILTER_HEAP, ".") == 0;
	return good;
}

bool report_request_is_possible(struct report_request *request)
{
	return parse_by(request) && options_are_consistent(request) &&
	       ((!request->args.many && !request->merge) ||
		fits_many(request));
}

/* What the report needs from a model: enum model_want. */
static unsigned wants_of(const struct report_request *request)
{
	bool stacks = filter_has_stacks(request->args.query.filter);
	unsigned wants = 0;

	if (request->report.sizes && !request->args.many && !request->merge)
		wants |= MODEL_WANT_TIMELINE | MODEL_WANT_CHAINS;
	if (request->json || stacks)
		wants |= MODEL_WANT_FREED_BY;
	if (request->report.pages)
		wants |= MODEL_WANT_MAPS;
	/* Stacks are filtered, or each row has histograms of its own. */
	if (request->report.sizes && (request->json || stacks))
		wants |= MODEL_WANT_HISTOGRAMS;
	return wants;
}

void report_request_choose(struct report_request *request)
{
	struct report_options *wanted = &request->report;
	struct query *query = &request->args.query;

	wanted->no_rows = (wanted->sizes || wanted->timeline) &&
		!wanted->one_key && request->report.by == NULL &&
		wanted->tree == REPORT_TREE_NONE;
	wanted->chosen = request->csv || wanted->one_key ||
		request->report.by != NULL ||
		wanted->tree != REPORT_TREE_NONE || wanted->sizes ||
		wanted->pages || wanted->timeline ||
		(wanted->top_given && !request->json);
	wanted->full_names = request->args.full_names;
	query->wants = wants_of(request);
	query->all_figures = request->json || request->csv;
	query->spares = (query->all_figures && !wanted->no_own_peaks ?
			 0 : QUERY_SPARES_OWN_PEAKS) |
			/* the text summary has lifetimes */
			(query->all_figures && !wanted->sizes ?
			 QUERY_SPARES_SIZES : 0) |
			(wanted->no_heap && !wanted->blocks && !wanted->pages ?
			 QUERY_SPARES_BLOCKS : 0);
	query->over_time = wanted->timeline;
	query->at_snapshots = wanted->pages;
	wanted->query = query;
}
