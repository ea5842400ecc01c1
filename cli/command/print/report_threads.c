/*
 * report_threads.c: see report_parts.h. Called by the main thread.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/threads.h"

#define SUMMARY_COLUMN 15	/* where a line of the summary continues, */
#define THREAD_COLUMN 11	/* and one about a thread */
#define NAMES_MAX 100		/* of one thread; JSON has all */

/* How a thread's stacks were captured; a later recorder may have other
 * modes. */
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
		[GT_WHY_CODE] = "code without unwind tables is here",
	};
	uint64_t why = capture->value[GT_CAPTURE_WHY];

	return why < GT_WHY_COUNT ? words[why] : "unknown";
}

/* Sums over all described threads; returns their number. Threads that lived one
 * after another may have used the same memory. */
static uint64_t sum_captures(const struct model *model,
			     uint64_t modes[GT_MODE_COUNT],
			     struct trace_capture *sum)
{
	uint64_t described = 0;

	memset(modes, 0, GT_MODE_COUNT * sizeof(*modes));
	memset(sum, 0, sizeof(*sum));
	for (uint64_t i = 1; i <= model_thread_count(model); i++) {
		const struct thread *thread = model_thread(model, i);
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

/* ---- text ---- */

static void put_use(const struct trace_capture *capture, int indent, FILE *out)
{
	const uint64_t *value = capture->value;

	fprintf(out, "path cache %s of %s, %s of %s ways used,\n",
		SIZE_TEXT(value[GT_CAPTURE_PATH_BYTES]),
		SIZE_TEXT(value[GT_CAPTURE_PATH_BYTES_MAX]),
		COUNT_TEXT(value[GT_CAPTURE_PATH_WAYS_USED]),
		COUNT_TEXT(value[GT_CAPTURE_PATH_WAYS]));
	fprintf(out, "%*sstate %s; barriers %s placed, %s met\n", indent, "",
		SIZE_TEXT(value[GT_CAPTURE_STATE_BYTES]),
		COUNT_TEXT(value[GT_CAPTURE_BARRIERS_PLACED]),
		COUNT_TEXT(value[GT_CAPTURE_BARRIERS_MET]));
}

void report_captures_text(const struct model *model, FILE *out)
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
	fprintf(out, "\n%*s", SUMMARY_COLUMN, "");
	put_use(&sum, SUMMARY_COLUMN, out);
}

void report_slow_text(const struct model *model, FILE *out)
{
	uint64_t count = threads_without_memory(model_threads(model));

	if (count > 0)
		fprintf(out, "  slow         stacks were unwound in full in %"
			PRIu64 " thread%s\n%*swithout memory left: --memory "
			"is too small for this program\n",
			count, count == 1 ? "" : "s", SUMMARY_COLUMN, "");
}

/* A program may put any bytes into a name. */
static void add_name(const struct thread_name *name, struct buffer *out)
{
	buffer_string(out, name->text);
	buffer_printable(out);
}

/* Prints a thread's names if it had several. */
static void put_names(const struct model *model, const struct thread *thread,
		      FILE *out)
{
	LOCAL_BUFFER names = { 0 }, name = { 0 };
	struct fit_lines lines = {
		.out = &names, .between = ", ", .ending = ",",
		.indent = THREAD_COLUMN, .width = report_width(),
		.column = THREAD_COLUMN,
	};

	if (thread->name_count < 2)
		return;
	for (size_t i = 0; i < thread->name_count && i < NAMES_MAX; i++) {
		buffer_clear(&name);
		buffer_string(&name, i == 0 ? "first " : "");
		add_name(&thread->names[i], &name);
		if (i > 0)
			buffer_printf(&name, " from %s",
				      TIME_TEXT(model_since_start_ns(model,
					      thread->names[i].since)));
		fit_piece(&lines, name.data);
	}
	if (thread->name_count > NAMES_MAX)
		fit_piece(&lines, "...");
	fprintf(out, "%*s%s\n", THREAD_COLUMN, "", names.data);
}

void report_threads_text(const struct model *model, FILE *out)
{
	uint64_t count = model_thread_count(model);
	uint32_t *order = threads_by_start(model_threads(model));

	fprintf(out, "\nTHREADS (%" PRIu64 ")\n", count);
	for (uint64_t i = 0; i < count; i++) {
		const struct thread *thread = model_thread(model, order[i]);

		fprintf(out, "  %-8" PRIu32 " ", thread->tid);
		report_put_text(out, threads_name(thread),
				GT_THREAD_NAME_MAX);
		fprintf(out, " started at %s",
			TIME_TEXT(model_since_start_ns(model,
				threads_start(thread))));
		if (thread->end != 0)
			fprintf(out, ", ended at %s",
				TIME_TEXT(model_since_start_ns(model,
					thread->end)));
		fprintf(out, "%s\n", thread->flags & GT_THREAD_MAIN ?
			", main" : "");
		put_names(model, thread, out);
		if (!thread->described)
			continue;
		fprintf(out, "%*smode %s: %s\n%*s", THREAD_COLUMN, "",
			mode_text(&thread->capture),
			why_text(&thread->capture), THREAD_COLUMN, "");
		put_use(&thread->capture, THREAD_COLUMN, out);
	}
	free(order);
}

/* ---- JSON ---- */

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

void report_captures_json(struct json *json, const struct model *model)
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

void report_threads_json(struct json *json, const struct model *model)
{
	uint32_t *order = threads_by_start(model_threads(model));

	json_array(json, "threads");
	for (uint64_t i = 0; i < model_thread_count(model); i++) {
		const struct thread *thread = model_thread(model, order[i]);

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
				model_thread(model, thread->creator)->tid);
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

