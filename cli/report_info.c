/*
 * report_info.c: what `gnomon info` prints: the recording itself, not the
 * program's memory. Called by the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/base/quantity.h"
#include "cli/info_sizes.h"
#include "cli/report.h"
#include "cli/report_maps.h"
#include "cli/report_tuning.h"

/* How a thread's stacks were taken; traces may come from a later recorder. */
static const char *mode_text(const struct trace_capture *capture)
{
	static const char *const words[GT_MODE_COUNT] = {
		[GT_MODE_BARRIERS] = "barriers",
		[GT_MODE_VALIDATE] = "validate",
		[GT_MODE_OFF] = "off",
		[GT_MODE_HARDWARE] = "hardware",
		[GT_MODE_PLAIN] = "plain",
	};
	uint64_t mode = capture->value[GT_CAPTURE_MODE];

	return mode < GT_MODE_COUNT ? words[mode] : "unknown";
}

static const char *why_text(const struct trace_capture *capture)
{
	static const char *const words[GT_WHY_COUNT] = {
		[GT_WHY_DEFAULT] = "nothing speaks against it",
		[GT_WHY_ASKED] = "asked for",
		[GT_WHY_HARDWARE] = "a hardware shadow stack is active",
		[GT_WHY_UNWINDER] =
			"libunwind unwinds the exceptions here",
		[GT_WHY_RUNTIME] = "a runtime here walks or moves its stacks",
		[GT_WHY_HIJACKED] =
			"something else replaces return addresses",
		[GT_WHY_STUBS] = "the stubs cannot be written, or are used up",
		[GT_WHY_MEMORY] = "no memory left of --memory",
	};
	uint64_t why = capture->value[GT_CAPTURE_WHY];

	return why < GT_WHY_COUNT ? words[why] : "unknown";
}

/* Of all described threads; returns how many. Those that lived one after the
 * other may have used the same memory. */
static uint64_t sum_captures(const struct model *model,
			     uint64_t modes[GT_MODE_COUNT],
			     struct trace_capture *sum)
{
	uint64_t described = 0;

	memset(modes, 0, GT_MODE_COUNT * sizeof(*modes));
	memset(sum, 0, sizeof(*sum));
	for (uint64_t i = 1; i <= model_thread_count(model); i++) {
		const struct thread *thread = &model->threads.list[i];
		const uint64_t *value = thread->capture.value;

		if (!thread->described)
			continue;
		described++;
		if (value[GT_CAPTURE_MODE] < GT_MODE_COUNT)
			modes[value[GT_CAPTURE_MODE]]++;
		for (unsigned k = 0; k < GT_CAPTURE_VALUES; k++)
			sum->value[k] += value[k];
	}
	return described;
}

static const char *type_title(unsigned type)
{
	switch (type) {
	case GT_INFO:
		return "RECORDING";
	case GT_COUNTERS:
		return "COUNTERS";
	default:
		return "END";
	}
}

static void put_facts(const struct model *model, unsigned type, FILE *out)
{
	struct buffer line = { 0 };

	fprintf(out, "\n%s\n", type_title(type));
	for (size_t i = 0; i < model->fact_count; i++) {
		if (model->facts[i].type != type)
			continue;
		buffer_clear(&line);
		buffer_printf(&line, "  %-22s %s", model->facts[i].key,
			      model->facts[i].value);
		buffer_printable(&line);
		fprintf(out, "%s\n", line.data);
	}
	buffer_free(&line);
}

static void put_images(const struct model *model, FILE *out)
{
	fprintf(out, "\nIMAGES (%zu)\n", model->images.count);
	for (size_t i = 0; i < model->images.count; i++) {
		const struct image *image = &model->images.list[i];

		fprintf(out, "  %012" PRIx64 " ", image->bias);
		for (size_t k = 0; k < image->build_id_size; k++)
			fprintf(out, "%02x", image->build_id[k]);
		fprintf(out, "%s%s%s\n", image->build_id_size ? " " :
			"(no build-id) ", image->path[0] ? image->path :
			"(no path)", image->end_node == UINT32_MAX ? "" :
			"  (unloaded)");
	}
}

static void put_use(const struct trace_capture *capture, FILE *out)
{
	const uint64_t *value = capture->value;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];

	fprintf(out, "path cache %s of %s, %s of %s ways used; ",
		quantity_size(a, (int64_t)value[GT_CAPTURE_PATH_BYTES]),
		quantity_size(b, (int64_t)value[GT_CAPTURE_PATH_BYTES_MAX]),
		quantity_count(c, value[GT_CAPTURE_PATH_WAYS_USED]),
		quantity_count((char[QUANTITY_TEXT]){ 0 },
			       value[GT_CAPTURE_PATH_WAYS]));
	fprintf(out, "state %s; barriers %s placed, %s met\n",
		quantity_size(a, (int64_t)value[GT_CAPTURE_STATE_BYTES]),
		quantity_count(b, value[GT_CAPTURE_BARRIERS_PLACED]),
		quantity_count(c, value[GT_CAPTURE_BARRIERS_MET]));
}

/* Lines of the summary; none for a trace that does not say. */
static void put_captures(const struct model *model, FILE *out)
{
	uint64_t modes[GT_MODE_COUNT];
	struct trace_capture sum;
	const char *comma = "";

	if (sum_captures(model, modes, &sum) == 0)
		return;
	fprintf(out, "  stacks       ");
	for (unsigned i = 0; i < GT_MODE_COUNT; i++) {
		const struct trace_capture mode = { .value = { i } };

		if (modes[i] == 0)
			continue;
		fprintf(out, "%s%s in %" PRIu64 " thread%s", comma,
			mode_text(&mode), modes[i], modes[i] == 1 ? "" : "s");
		comma = ", ";
	}
	fprintf(out, "\n               ");
	put_use(&sum, out);
}

/* A program may put anything into one. */
static void put_name(const struct thread_name *name, FILE *out)
{
	struct buffer text = { 0 };

	buffer_string(&text, name->text);
	buffer_printable(&text);
	fputs(text.data, out);
	buffer_free(&text);
}

/* Where there were several. */
static void put_names(const struct model *model, const struct thread *thread,
		      FILE *out)
{
	char a[QUANTITY_TEXT];

	if (thread->name_count < 2)
		return;
	fputs("           first ", out);
	put_name(&thread->names[0], out);
	for (size_t i = 1; i < thread->name_count; i++) {
		fputs(", ", out);
		put_name(&thread->names[i], out);
		fprintf(out, " from %s", quantity_time(a,
			model_since_start_ns(model, thread->names[i].since)));
	}
	fputc('\n', out);
}

static void put_threads(const struct model *model, FILE *out)
{
	uint64_t count = model_thread_count(model);
	uint32_t *order = threads_by_start(&model->threads);
	char a[QUANTITY_TEXT];

	fprintf(out, "\nTHREADS (%" PRIu64 ")\n", count);
	for (uint64_t i = 0; i < count; i++) {
		const struct thread *thread = &model->threads.list[order[i]];

		fprintf(out, "  %-8" PRIu32 " ", thread->tid);
		if (thread->name_count > 0)
			put_name(&thread->names[thread->name_count - 1], out);
		fprintf(out, " started at %s",
			quantity_time(a, model_since_start_ns(model,
						threads_start(thread))));
		if (thread->end != 0)
			fprintf(out, ", ended at %s", quantity_time(a,
				model_since_start_ns(model, thread->end)));
		fprintf(out, "%s\n", thread->flags & GT_THREAD_MAIN ?
			", main" : "");
		put_names(model, thread, out);
		if (!thread->described)
			continue;
		fprintf(out, "           mode %s: %s\n           ",
			mode_text(&thread->capture),
			why_text(&thread->capture));
		put_use(&thread->capture, out);
	}
	free(order);
}

void report_info_text(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out)
{
	const struct reader_report *report = &model->report;
	const char *guarantee = model_fact(model, GT_INFO, "guarantee");
	struct buffer end = { 0 };
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];

	model_exit_text(model, &end);
	fprintf(out, "%s\n\n", path);
	fprintf(out, "  format       %u.%u, trace id %016" PRIx64 "\n",
		report->major, report->minor, report->trace_id);
	fprintf(out, "  size         %s, %s events\n",
		quantity_size(a, (int64_t)report->file_bytes),
		quantity_count(b, report->events));
	fprintf(out, "  ran          %s; %s\n",
		quantity_time(a, model_duration_ns(model)), end.data);
	fprintf(out, "  dropped      %s events\n",
		quantity_count(a, model_dropped(model)));
	fprintf(out, "  kept         %s\n", guarantee == NULL ? "?" :
		strcmp(guarantee, "file") == 0 ?
		"in a live file: survives the death of program and recorder" :
		"in memory: survives the death of the program, not of the "
		"recorder");
	fprintf(out, "  damaged      %" PRIu64 " places\n",
		report->damage_count + report->malformed);
	put_captures(model, out);
	put_facts(model, GT_INFO, out);
	put_facts(model, GT_COUNTERS, out);
	put_facts(model, GT_END, out);
	report_memory_info(model, out);
	put_threads(model, out);
	report_tuning_text(model, frames, out);
	put_images(model, out);
	report_maps_text(model, frames, out);
	if (sizes != NULL)
		info_sizes_text(sizes, out);
	buffer_free(&end);
}

/* ---- JSON ---- */

/* Decimal numbers become numbers, everything else stays text. */
static void json_fact(struct json *json, const struct fact *fact)
{
	uint64_t value;

	if (strlen(fact->value) < 20 &&
	    quantity_parse_count(fact->value, &value) == 0)
		json_uint(json, fact->key, value);
	else
		json_string(json, fact->key, fact->value);
}

static void json_facts(struct json *json, const struct model *model,
		       unsigned type, const char *name)
{
	json_object(json, name);
	for (size_t i = 0; i < model->fact_count; i++)
		if (model->facts[i].type == type)
			json_fact(json, &model->facts[i]);
	json_end_object(json);
}

static void json_images(struct json *json, const struct model *model)
{
	json_array(json, "images");
	for (size_t i = 0; i < model->images.count; i++) {
		const struct image *image = &model->images.list[i];
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

static void json_use(struct json *json, const struct trace_capture *capture)
{
	static const char *const keys[GT_CAPTURE_VALUES] = {
		[GT_CAPTURE_PATH_BYTES] = "path_bytes",
		[GT_CAPTURE_PATH_BYTES_MAX] = "path_bytes_max",
		[GT_CAPTURE_PATH_WAYS] = "path_ways",
		[GT_CAPTURE_PATH_WAYS_USED] = "path_ways_used",
		[GT_CAPTURE_STATE_BYTES] = "state_bytes",
		[GT_CAPTURE_BARRIERS_PLACED] = "barriers_placed",
		[GT_CAPTURE_BARRIERS_MET] = "barriers_met",
	};

	for (unsigned i = 0; i < GT_CAPTURE_VALUES; i++)
		if (keys[i] != NULL)
			json_uint(json, keys[i], capture->value[i]);
}

static void json_captures(struct json *json, const struct model *model)
{
	uint64_t modes[GT_MODE_COUNT];
	struct trace_capture sum;
	uint64_t described = sum_captures(model, modes, &sum);

	json_object(json, "captures");
	json_uint(json, "threads", described);
	json_object(json, "modes");
	for (unsigned i = 0; i < GT_MODE_COUNT; i++) {
		const struct trace_capture mode = { .value = { i } };

		if (modes[i] > 0)
			json_uint(json, mode_text(&mode), modes[i]);
	}
	json_end_object(json);
	json_use(json, &sum);
	json_end_object(json);
}

static void json_thread_names(struct json *json, const struct model *model,
			      const struct thread *thread)
{
	json_array(json, "names");
	for (size_t i = 0; i < thread->name_count; i++) {
		json_object(json, NULL);
		json_string(json, "name", thread->names[i].text);
		json_uint(json, "since_ns", model_since_start_ns(model,
						thread->names[i].since));
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_threads(struct json *json, const struct model *model)
{
	uint32_t *order = threads_by_start(&model->threads);

	json_array(json, "threads");
	for (uint64_t i = 0; i < model_thread_count(model); i++) {
		const struct thread *thread = &model->threads.list[order[i]];

		json_object(json, NULL);
		json_uint(json, "tid", thread->tid);
		json_string(json, "name", threads_name(thread));
		json_thread_names(json, model, thread);
		json_uint(json, "start_ns", model_since_start_ns(model,
						threads_start(thread)));
		if (thread->end != 0)
			json_uint(json, "end_ns",
				  model_since_start_ns(model, thread->end));
		if (thread->creator != 0)
			json_uint(json, "creator",
				model->threads.list[thread->creator].tid);
		json_bool(json, "main", thread->flags & GT_THREAD_MAIN);
		json_uint(json, "events", thread->events);
		if (thread->described) {
			json_string(json, "mode", mode_text(&thread->capture));
			json_string(json, "why", why_text(&thread->capture));
			json_use(json, &thread->capture);
		}
		json_end_object(json);
	}
	json_end_array(json);
	free(order);
}

void report_info_json(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out)
{
	const struct reader_report *report = &model->report;
	struct json json = { .out = out };
	struct buffer end = { 0 };

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
	json_facts(&json, model, GT_INFO, "info");
	json_facts(&json, model, GT_COUNTERS, "counters");
	json_facts(&json, model, GT_END, "end");
	json_captures(&json, model);
	json_threads(&json, model);
	report_tuning_json(model, frames, &json);
	json_images(&json, model);
	report_maps_json(model, frames, &json);
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
	buffer_free(&end);
}
