/*
 * list_json.c: a recording as JSON: one object with a table of frames, or
 * (ndjson) one self-contained object a line. See list.h. Members are only
 * added, never renamed: tools rely on the names.
 */
#include "cli/export/list/list.h"

#include "cli/base/status.h"
#include "cli/command/print/report_coverage.h"
#include "cli/export/exporters.h"
#include "cli/model/core/controls.h"
#include "cli/model/omitted.h"
#include "cli/trace/read/reader.h"

struct writing {
	struct export *export;
	struct json json;
	struct frame_table once;
};

static void begin(struct writing *writing, struct export *export)
{
	*writing = (struct writing){ .export = export,
				     .json = { .out = export->out } };
}

/* ---- one object ---- */

static void write_totals(struct writing *writing)
{
	const struct coverage *coverage = &writing->export->coverage;
	const struct model *model = writing->export->model;
	struct json *json = &writing->json;
	struct figures sum;
	uint64_t contexts = export_sum(writing->export, &sum);

	json_uint(json, "allocations", sum.count);
	json_uint(json, "frees", sum.frees);
	json_uint(json, "total_bytes", sum.total_bytes);
	json_uint(json, "live_bytes", sum.live_bytes);
	json_uint(json, "live_blocks", sum.live_blocks);
	json_uint(json, "peak_bytes", sum.peak_bytes);
	json_uint(json, "peak_blocks", sum.peak_blocks);
	json_uint(json, "peak_time_ns", model_since_start_ns(
			  model, model_peak_stamp(model)));
	json_uint(json, "temporary", sum.temporary);
	json_uint(json, "contexts", contexts);
	report_coverage_missing(json, coverage);
	json_uint(json, "duration_ns", model_duration_ns(model));
	json_bool(json, "estimated", coverage->sample_mean > 0);
	if (coverage->sample_mean > 0)
		json_uint(json, "sample_mean", coverage->sample_mean);
}

static void write_summary(struct writing *writing)
{
	const struct model *model = writing->export->model;
	const char *filters = filter_text(writing->export->query->filter);
	struct json *json = &writing->json;
	LOCAL_BUFFER text = { 0 };

	json_object(json, "summary");
	write_totals(writing);
	model_command(model, &text);
	json_string(json, "program", model_fact(model, GT_INFO, "exe"));
	json_string(json, "command", text.data ? text.data : "");
	json_uint(json, "pid", model_number(model, GT_INFO, "pid", 0));
	json_bool(json, "complete",
		  model_reader_report(model)->ended ||
		  model_is_being_written(model));
	if (filters[0] != 0)
		json_string(json, "filters", filters + 1);
	json_end_object(json);
	report_coverage_json(json, &writing->export->coverage);
}

static void write_context(void *owner, uint32_t node,
			  const struct figures *figures)
{
	struct writing *writing = owner;

	json_object(&writing->json, NULL);
	list_context_json(&writing->json, writing->export, node, figures,
			  &writing->once);
	json_end_object(&writing->json);
}

static void write_block(void *owner, const struct list_block *block)
{
	struct writing *writing = owner;

	json_object(&writing->json, NULL);
	list_block_json(&writing->json, block);
	json_end_object(&writing->json);
}

static int write_json(struct export *export)
{
	struct writing writing;
	int status = EXIT_COMPLETE;

	begin(&writing, export);
	json_object(&writing.json, NULL);
	json_uint(&writing.json, "schema", 1);
	write_summary(&writing);
	json_array(&writing.json, "contexts");
	list_contexts(export, write_context, &writing);
	json_end_array(&writing.json);
	frame_table_json(&writing.json, &writing.once);
	if (export->blocks) {
		json_array(&writing.json, "blocks");
		status = list_blocks(export, write_block, &writing);
		json_end_array(&writing.json);
	}
	json_end_object(&writing.json);
	frame_table_free(&writing.once);
	return status;
}

/* ---- one object a line ---- */

static void write_context_line(void *owner, uint32_t node,
			       const struct figures *figures)
{
	struct export *export = owner;
	struct json line = { .out = export->out, .compact = true };

	json_object(&line, NULL);
	list_context_json(&line, export, node, figures, NULL);
	json_end_object(&line);
}

static void write_block_line(void *owner, const struct list_block *block)
{
	const struct export *export = owner;
	struct json line = { .out = export->out, .compact = true };

	json_object(&line, NULL);
	list_block_json(&line, block);
	json_end_object(&line);
}

static int write_ndjson(struct export *export)
{
	if (export->blocks)
		return list_blocks(export, write_block_line, export);
	list_contexts(export, write_context_line, export);
	return EXIT_COMPLETE;
}

const struct exporter export_json = {
	.name = "json",
	.what = "one object: contexts (and blocks) with all measures",
	.can_list_blocks = true,
	.write = write_json,
};

const struct exporter export_ndjson = {
	.name = "ndjson",
	.what = "one object a line for each context or block",
	.can_list_blocks = true,
	.write = write_ndjson,
};
