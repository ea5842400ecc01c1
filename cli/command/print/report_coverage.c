/*
 * report_coverage.c: see report_coverage.h. Members are only ever added: tools
 * rely on the names (docs/notes/figures.md).
 */
#include "cli/command/print/report_coverage.h"

#include "cli/base/text/quantity.h"

static void put_members(struct json *json, const struct coverage_amount *amount,
			bool has_live)
{
	json_uint(json, "allocations", amount->allocations);
	json_uint(json, "bytes", amount->bytes);
	if (!has_live)
		return;
	json_uint(json, "live_blocks", amount->live_blocks);
	json_uint(json, "live_bytes", amount->live_bytes);
}

static void put_amount(struct json *json, const char *key,
		       const struct coverage_amount *amount, bool has_live)
{
	json_object(json, key);
	put_members(json, amount, has_live);
	json_end_object(json);
}

static void put_left_out(struct json *json, const struct coverage *coverage)
{
	json_object(json, "left_out");
	put_members(json, &coverage->left_out, coverage->has_live);
	json_array(json, "causes");
	for (unsigned i = 0; i < COVERAGE_CAUSES; i++)
		if (coverage->causes >> i & 1)
			json_string(json, NULL, coverage_causes[i]);
	json_end_array(json);
	json_end_object(json);
}

void report_coverage_json(struct json *json, const struct coverage *coverage)
{
	bool live = coverage->has_live;

	json_object(json, "coverage");
	put_amount(json, "whole", &coverage->whole, live);
	put_amount(json, "selected", &coverage->selected, live);
	put_amount(json, "not_selected", &coverage->not_selected, live);
	put_amount(json, "undecidable", &coverage->undecidable, live);
	put_left_out(json, coverage);
	put_amount(json, "unrecorded", &coverage->unrecorded, false);
	json_object(json, "lost");
	json_uint(json, "events", coverage->dropped);
	json_uint(json, "places", coverage->damaged);
	json_uint(json, "bytes", coverage->lost_bytes);
	json_uint(json, "ends", coverage->lost_ends);
	json_end_object(json);
	json_uint(json, "unpaired", coverage->unpaired);
	json_uint(json, "foreign_frees", coverage->foreign_frees);
	json_uint(json, "ungrouped", coverage->ungrouped);
	json_bool(json, "estimated", coverage->sample_mean > 0);
	if (coverage->sample_mean > 0)
		json_uint(json, "sample_mean", coverage->sample_mean);
	json_end_object(json);
}

void report_coverage_missing(struct json *json,
			     const struct coverage *coverage)
{
	json_uint(json, "dropped", coverage->dropped);
	json_uint(json, "unpaired", coverage->unpaired);
	json_uint(json, "foreign_frees", coverage->foreign_frees);
	json_uint(json, "unrecorded_allocations",
		  coverage->unrecorded.allocations);
	json_uint(json, "unrecorded_bytes", coverage->unrecorded.bytes);
}

void report_coverage_cut(const struct coverage *coverage, struct buffer *text)
{
	const struct coverage_amount *cut = &coverage->cut;
	char count[QUANTITY_TEXT], bytes[QUANTITY_TEXT];

	if (cut->allocations == 0)
		return;
	buffer_printf(text, "of %s allocation%s (%s) the outer frames are "
		      "unknown, and the filters cannot be applied to them: not "
		      "counted",
		      quantity_count(count, cut->allocations),
		      cut->allocations == 1 ? "" : "s",
		      quantity_size(bytes, (int64_t)cut->bytes));
}

void report_coverage_undecided(const struct coverage *coverage,
			       struct buffer *text)
{
	const struct coverage_amount *all = &coverage->undecidable;

	if (all->allocations == coverage->cut.allocations) {
		report_coverage_cut(coverage, text);
		return;
	}
	buffer_printf(text, "the filters cannot be applied to %s (%s), because "
		      "the trace lacks data of them: not counted",
		      COUNTED(all->allocations, "allocation"),
		      SIZE_TEXT(all->bytes));
}
