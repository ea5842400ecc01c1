/*
 * report_info.c: the output of `gnomon info`: the recording itself, not the
 * program's memory. Called by the main thread.
 */
#include "cli/info/info.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/json.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/images.h"

#define PATH_COLUMN 15		/* after an image's address */

/* Long paths may be cut; build-ids stay whole, for copying. */
static void put_image(const struct image *image, bool full, FILE *out)
{
	LOCAL_BUFFER path = { 0 }, line = { 0 };

	buffer_string(&path, image->path[0] ? image->path : "(no path)");
	buffer_string(&path, image->end_node == UINT32_MAX ? "" :
		      "  (unloaded)");
	buffer_printable(&path);
	fit_path(&line, path.data, full ? SIZE_MAX :
		 report_width() - PATH_COLUMN);
	fprintf(out, "  %012" PRIx64 " %s\n%*s", image->bias, line.data,
		PATH_COLUMN, "");
	for (size_t k = 0; k < image->build_id_size; k++)
		fprintf(out, "%s%02x", k == 0 ? "build-id " : "",
			image->build_id[k]);
	fprintf(out, "%s\n", image->build_id_size ? "" : "no build-id");
}

static void put_images(const struct model *model, bool full, FILE *out)
{
	const struct images *images = model_images(model);

	fprintf(out, "\nIMAGES (%zu)\n", images->count);
	for (size_t i = 0; i < images->count; i++)
		put_image(&images->list[i], full, out);
}

void report_info_text(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      bool full, FILE *out)
{
	const struct reader_report *report = model_reader_report(model);
	const char *guarantee = model_fact(model, GT_INFO, "guarantee");
	LOCAL_BUFFER end = { 0 };

	model_exit_text(model, &end);
	fprintf(out, "%s\n\n", path);
	fprintf(out, "  format       %u.%u, trace id %016" PRIx64 "\n",
		report->major, report->minor, report->trace_id);
	fprintf(out, "  size         %s, %s events\n",
		SIZE_TEXT(report->file_bytes), COUNT_TEXT(report->events));
	fprintf(out, "  ran          %s; %s\n",
		TIME_TEXT(model_duration_ns(model)), end.data);
	report_made_up_text(model, out);
	fprintf(out, "  dropped      %s events\n",
		COUNT_TEXT(model_dropped(model)));
	fprintf(out, "  kept         %s\n", guarantee == NULL ? "?" :
		strcmp(guarantee, "file") == 0 ?
		"in a live file: survives the death of program and recorder" :
		"in memory: survives the death of the program, not of the "
		"recorder");
	fprintf(out, "  damaged      %" PRIu64 " places\n",
		report->damage_count + report->malformed);
	report_index_text(path, out);
	report_captures_text(model, out);
	report_slow_text(model, out);
	report_facts_text(model, full, out);
	report_controls_text(model, out);
	report_memory_info(model, out);
	report_threads_text(model, out);
	report_tuning_text(model, frames, full, out);
	put_images(model, full, out);
	report_maps_text(model, frames, full, out);
	if (sizes != NULL)
		info_sizes_text(sizes, out);
}

/* ---- JSON ---- */

static void json_images(struct json *json, const struct model *model)
{
	const struct images *images = model_images(model);

	json_array(json, "images");
	for (size_t i = 0; i < images->count; i++) {
		const struct image *image = &images->list[i];
		char hex[2 * GL_BUILD_ID_MAX + 1] = "";

		for (size_t k = 0; k < image->build_id_size; k++)
			snprintf(hex + 2 * k, 3, "%02x", image->build_id[k]);
		json_object(json, NULL);
		json_string(json, "path", image->path);
		json_string(json, "build_id", hex);
		json_uint(json, "bias", image->bias);
		json_bool(json, "unloaded", image->end_node != UINT32_MAX);
		json_end_object(json);
	}
	json_end_array(json);
}

void report_info_json(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out)
{
	const struct reader_report *report = model_reader_report(model);
	struct json json = { .out = out };
	LOCAL_BUFFER end = { 0 };

	model_exit_text(model, &end);
	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_string(&json, "trace", path);
	json_string(&json, "exit", end.data);
	json_uint(&json, "duration_ns", model_duration_ns(model));
	json_uint(&json, "events", report->events);
	json_uint(&json, "bytes", report->file_bytes);
	json_uint(&json, "dropped", model_dropped(model));
	json_uint(&json, "damaged", report->damage_count + report->malformed);
	json_bool(&json, "being_written", report->being_written);
	report_index_json(path, &json);
	report_facts_json(&json, model);
	report_captures_json(&json, model);
	report_threads_json(&json, model);
	report_tuning_json(model, frames, &json);
	json_images(&json, model);
	report_maps_json(model, frames, &json);
	report_controls_json(&json, model);
	report_memory_json(&json, model);
	json_array(&json, "chunks");
	for (unsigned type = 0; type < READER_TYPES; type++) {
		if (report->chunks[type] == 0)
			continue;
		json_object(&json, NULL);
		json_string(&json, "type", scan_type_name(type));
		json_uint(&json, "count", report->chunks[type]);
		json_uint(&json, "bytes", report->bytes[type]);
		json_end_object(&json);
	}
	json_end_array(&json);
	if (sizes != NULL)
		info_sizes_json(sizes, &json);
	json_end_object(&json);
}
