/*
 * report_detail.c: see report_detail.h. Called by the main thread.
 *
 * A row's histograms are summed up when the row is written. Its costs are a
 * linked list, so that millions of rows take two numbers each.
 */
#include "cli/report/report_detail.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/footprint.h"
#include "cli/model/stats/timeline.h"
#include "cli/report/report_freed.h"
#include "cli/trace/read/clock.h"

/* ---- costs of a row ---- */

static void list_costs(struct report_detail *detail, const struct report *r,
		       struct query_rows *rows)
{
	size_t count = model_contexts(r->model)->cost_count;

	detail->first = grow_resize(NULL, rows->count, sizeof(uint32_t));
	detail->next = grow_resize(NULL, count, sizeof(uint32_t));
	memset(detail->first, 0xff, rows->count * sizeof(uint32_t));
	for (size_t i = 0; i < count; i++) {
		uint32_t row = query_row_of(rows, (uint32_t)i);

		if (row == QUERY_NO_ROW)
			continue;
		detail->next[i] = detail->first[row];
		detail->first[row] = (uint32_t)i;
	}
}

void report_detail_begin(struct report_detail *detail, const struct report *r,
			 struct query_rows *rows)
{
	memset(detail, 0, sizeof(*detail));
	if (r->model == NULL || query_inclusive(rows->query) != NULL ||
	    (!r->options->sizes && !report_has_freed(r)))
		return;
	detail->report = r;
	detail->rows = rows;
	if (rows->grouped)
		list_costs(detail, r, rows);
}

void report_detail_end(struct report_detail *detail)
{
	free(detail->first);
	free(detail->next);
}

/* ---- details of a row ---- */

struct detail {
	struct histogram sizes, lifetimes;
	struct chain_figures chains;
	struct freed freed;
};

static void add(const struct model *model, uint32_t cost, struct detail *sum)
{
	struct chain_figures chains;

	histograms_add(model_histograms(model), cost, HISTOGRAM_SIZES,
		       &sum->sizes);
	histograms_add(model_histograms(model), cost, HISTOGRAM_LIFETIMES,
		       &sum->lifetimes);
	chains_of(model_chains(model), cost, &chains);
	chain_figures_add(&sum->chains, &chains);
	report_freed_add(&sum->freed, model, cost);
}

/* Means include all chains, whether ended or not. */
static void put_chains(struct json *json, const struct model *model,
		       const struct chain_figures *chains)
{
	double ns = chains->count == 0 ? 0 : clock_rate(model_clock(model)) *
		(chains->lifetime / (double)chains->count);

	json_object(json, "chains");
	json_uint(json, "count", chains->count);
	json_uint(json, "live", chains->live);
	json_uint(json, "blocks", chains->blocks);
	json_uint(json, "longest", chains->longest);
	json_uint(json, "first_bytes", chains->first_bytes);
	json_uint(json, "last_bytes", chains->last_bytes);
	json_uint(json, "largest_bytes", chains->largest);
	json_uint(json, "lifetime_ns", (uint64_t)ns);
	json_end_object(json);
}

void report_detail_row(struct json *json, const struct report_detail *detail,
		       size_t row)
{
	const struct report *r = detail->report;
	struct detail sum = { 0 };

	if (r == NULL)
		return;
	if (detail->first == NULL)
		add(r->model, contexts_find_cost(model_contexts(r->model),
				detail->rows->list[row].node, 0), &sum);
	for (uint32_t i = detail->first ? detail->first[row] : TABLE_NONE;
	     i != TABLE_NONE; i = detail->next[i])
		add(r->model, i, &sum);
	if (r->options->sizes)
		report_histograms_json(json, &sum.sizes, &sum.lifetimes);
	if (r->options->sizes && sum.chains.count > 0)
		put_chains(json, r->model, &sum.chains);
	if (report_has_freed(r))
		report_freed_row(json, r->model, &sum.freed);
	freed_free(&sum.freed);
}

void report_chains_json(struct json *json, const struct report *r)
{
	const struct contexts *contexts = model_contexts(r->model);
	struct chain_figures sum = { 0 }, chains;

	if (r->keep == NULL)
		sum = model_chains(r->model)->whole;
	for (size_t i = 0; i < contexts->cost_count && r->keep != NULL; i++) {
		struct figures figures;

		if (!report_keeps(r, i, &figures))
			continue;
		chains_of(model_chains(r->model), (uint32_t)i, &chains);
		chain_figures_add(&sum, &chains);
	}
	put_chains(json, r->model, &sum);
}

/* ---- over time ---- */

static const enum gt_usage_value kinds[] = {
	GT_USAGE_RSS, GT_USAGE_SIZE, GT_USAGE_SHARED, GT_USAGE_ANONYMOUS,
	GT_USAGE_SWAP,
};

static void put_bucket(struct json *json, uint64_t time_ns,
		       const struct timeline_bucket *bucket,
		       const uint64_t *memory)
{
	json_object(json, NULL);
	json_uint(json, "time_ns", time_ns);
	json_uint(json, "live_bytes", bucket->live_bytes);
	json_uint(json, "live_blocks", bucket->live_blocks);
	json_uint(json, "live_bytes_max", bucket->live_bytes_max);
	json_uint(json, "live_blocks_max", bucket->live_blocks_max);
	json_uint(json, "allocations", bucket->allocations);
	json_uint(json, "allocated_bytes", bucket->allocated_bytes);
	json_uint(json, "frees", bucket->frees);
	json_uint(json, "freed_bytes", bucket->freed_bytes);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		json_uint(json, report_usage_keys[kinds[i]], memory[kinds[i]]);
	json_end_object(json);
}

static void put_markers(struct json *json, const struct model *model)
{
	const struct footprint *footprint = model_footprint(model);

	json_array(json, "markers");
	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		const struct footprint_snapshot *snapshot =
			&footprint->snapshots[i];

		if (snapshot->name[0] == 0)
			continue;
		json_object(json, NULL);
		json_string(json, "name", snapshot->name);
		json_uint(json, "time_ns", model_since_start_ns(
				model, snapshot->said.begin));
		json_end_object(json);
	}
	json_end_array(json);
}

void report_timeline_json(struct json *json, const struct report *r)
{
	const struct timeline *timeline = model_timeline(r->model);
	uint64_t (*memory)[GT_USAGE_VALUES];

	if (r->keep != NULL)
		return;
	memory = grow_zeroed(timeline->count, sizeof(*memory));
	timeline_memory(timeline, model_footprint(r->model), memory);
	json_object(json, "timeline");
	json_uint(json, "step_ns", timeline->count == 0 ? 0 :
		  (uint64_t)(clock_rate(model_clock(r->model)) *
			     (double)(UINT64_C(1) << timeline->shift)));
	json_array(json, "steps");
	for (size_t i = 0; i < timeline->count; i++)
		put_bucket(json, model_since_start_ns(r->model,
					timeline_stamp(timeline, i)),
			   &timeline->buckets[i], memory[i]);
	json_end_array(json);
	put_markers(json, r->model);
	json_end_object(json);
	free(memory);
}
