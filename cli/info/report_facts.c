/*
 * report_facts.c: see info.h. Keys are those of the trace and of --json; a note
 * explains each counter. Called by the main thread.
 */
#include "cli/info/info.h"

#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/quote.h"
#include "cli/command/print/report_parts.h"
#include "cli/trace/decode/records.h"

#define KEY_WIDTH 22
#define VALUE_COLUMN (2 + KEY_WIDTH + 1)

/* ---- INFO and END ---- */

/* Prints arguments on as many lines as needed, with \ at line ends for a
 * shell. */
static void add_command(struct buffer *out, const char *words, bool full)
{
	struct fit_lines lines = {
		.out = out, .between = " ", .ending = " \\",
		.indent = VALUE_COLUMN, .width = report_width(),
		.column = VALUE_COLUMN,
	};
	const size_t max = report_width() - VALUE_COLUMN - 2;
	LOCAL_BUFFER word = { 0 }, cut = { 0 };

	while (*words != 0) {
		size_t size = strcspn(words, (const char[]){ RECORDS_NUL, 0 });

		buffer_clear(&word);
		buffer_clear(&cut);
		quote_word(&word, words, size);
		fit_start(&cut, word.data, full ? SIZE_MAX : max);
		fit_piece(&lines, cut.data);
		words += size + (words[size] != 0);
	}
}

static void put_fact(const struct fact *fact, bool full, FILE *out)
{
	LOCAL_BUFFER line = { 0 }, value = { 0 };

	buffer_printf(&line, "  %-*s ", KEY_WIDTH, fact->key);
	buffer_string(&value, fact->value);
	buffer_printable(&value);
	buffer_printable(&line);
	if (fact->type == GT_INFO && strcmp(fact->key, "command") == 0)
		add_command(&line, fact->value, full);
	else if (fact->value[0] == '/')
		fit_path(&line, value.data, full ? SIZE_MAX :
			 report_width() - VALUE_COLUMN);
	else
		fit_start(&line, buffer_text(&value), full ?
			  SIZE_MAX : report_width() - VALUE_COLUMN);
	fprintf(out, "%s\n", line.data);
}

static void put_facts(const struct model *model, unsigned type,
		      const char *title, bool full, FILE *out)
{
	size_t count;
	const struct fact *facts = model_facts(model, &count);

	fprintf(out, "\n%s\n", title);
	for (size_t i = 0; i < count; i++)
		if (facts[i].type == type)
			put_fact(&facts[i], full, out);
}

/* ---- COUNTERS ---- */

static const struct counter {
	const char *key;
	const char *what;	/* NULL: a title */
} counters[] = {
	{ "events", NULL },
	{ "events", "recorded allocations, frees and others" },
	{ "dropped", "events lost: all measures are too low" },
	{ "early_allocations", "made before the recorder was ready" },
	{ "nested_events", "in signal handlers, during another event" },
	{ "nested_lost", "nested events that were lost" },
	{ "late_signals", "toggles and clears that took effect late" },
	{ "ring_waits", "times a thread waited for the recorder" },
	{ "how stacks were captured", NULL },
	{ "tier_path", "whole stack found in the path cache" },
	{ "tier_join", "only inner frames were new" },
	{ "tier_full", "unwound in full" },
	{ "tier_plain", "unwound in full, without any cache" },
	{ "tier_hardware", "read from the processor's shadow stack" },
	{ "frames_walked", "frames unwound by rules" },
	{ "barriers_placed", "return addresses replaced by stubs" },
	{ "barriers_met", "stacks known from a barrier outward" },
	{ "oracle_checks", "captured a second time, to compare" },
	{ "oracle_differences", "checks that differed: a bug of gnomon" },
	{ "nodes", "nodes in the tree of all stacks" },
	{ "nodes_emitted", "nodes written into the trace" },
	{ "rules", "distinct unwind rules in use" },
	{ "where unwinding ended", NULL },
	{ "stop_bottom", "at the outermost frame" },
	{ "stop_no_image", "at an address outside of files" },
	{ "stop_no_rule", "in code without an unwind rule" },
	{ "stop_bad_read", "at an unreadable word" },
	{ "stop_no_progress", "at a frame that is not further out" },
	{ "stop_too_deep", "at the depth limit" },
	{ "stop_bad_table", "at an invalid unwind table" },
	{ "stop_loader", "while libraries were changing" },
	{ "stop_no_memory", "no memory left for stacks" },
	{ "stop_early", "before the unwinder was ready" },
	{ "stop_other", "for another reason" },
	{ "stop_jit", "in run-time code without a table" },
	{ "resources of the recorder", NULL },
	{ "area_bytes", "memory of its own" },
	{ "ring_bytes", "memory of rings" },
	{ "writer_cpu_ns", "processor time of the recorder process" },
	{ "jit_tables", "unwind tables registered at run time" },
	{ "jit_refused", "registered tables that were not used" },
	{ "names_skipped", "names of a perf map that were left out" },
	{ "usage_looks", "readings of memory use" },
	{ "usage_details", "readings with all values" },
	{ "usage_cpu_ns", "processor time for them" },
	{ "maps_looks", "readings of the mappings" },
	{ "maps_cut", "readings that were incomplete" },
	{ "maps_cpu_ns", "processor time for them" },
	{ "files in the trace", NULL },
	{ "embedded_files", "embedded files (--embed, --include)" },
	{ "embedded_bytes", "their bytes before compression" },
	{ "embed_skipped", "not embedded, because of size or time" },
	{ "embed_cut", "embedded without debug information" },
	{ "embed_inherited", "embedded in the parent's trace" },
	{ "embed_cpu_ns", "processor time for embedding" },
	{ "how the trace's bytes are used", NULL },
	{ "bytes_events", "allocations, frees and other events" },
	{ "bytes_context", "the tree of all stacks" },
	{ "bytes_image", "program and libraries" },
	{ "bytes_maps", "mappings" },
	{ "bytes_control", "starts, stops, markers, heap names" },
	{ "bytes_usage", "memory of the process, over time" },
	{ "bytes_snapshot", "snapshots of all mappings" },
	{ "bytes_names", "names of run-time generated code" },
	{ "bytes_thread", "threads" },
	{ "bytes_capture", "how each thread's stacks were captured" },
	{ "bytes_sync", "clocks" },
	{ "bytes_info", "the facts above" },
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static const char *meaning_of(const char *key)
{
	for (size_t i = 0; i < COUNTERS; i++)
		if (counters[i].what != NULL &&
		    strcmp(counters[i].key, key) == 0)
			return counters[i].what;
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), n = strlen(end);

	return size >= n && strcmp(text + size - n, end) == 0;
}

static void put_counter(const char *key, const char *value, const char *what,
			FILE *out)
{
	char text[QUANTITY_TEXT];
	uint64_t number;

	if (strlen(value) >= 20 || quantity_parse_count(value, &number) != 0)
		snprintf(text, sizeof(text), "%s", value);
	else if (ends_with(key, "_ns"))
		quantity_time(text, number);
	else if (strncmp(key, "bytes_", 6) == 0 || ends_with(key, "_bytes"))
		quantity_size(text, (int64_t)number);
	else
		quantity_count(text, number);
	fprintf(out, "    %-18s %13s  %s\n", key, text, what);
}

/* Counters that are not 0, with their meanings; titles only above some. */
static void put_known(const struct model *model, FILE *out)
{
	const char *title = NULL;

	for (size_t i = 0; i < COUNTERS; i++) {
		const char *value = model_fact(model, GT_COUNTERS,
					       counters[i].key);

		if (counters[i].what == NULL) {
			title = counters[i].key;
			continue;
		}
		if (value == NULL || strcmp(value, "0") == 0)
			continue;
		if (title != NULL)
			fprintf(out, "  %s:\n", title);
		title = NULL;
		put_counter(counters[i].key, value, counters[i].what, out);
	}
}

static void put_counters(const struct model *model, FILE *out)
{
	LOCAL_BUFFER zeros = { 0 };
	struct fit_lines lines = {
		.out = &zeros, .between = ", ", .ending = ",", .indent = 4,
		.width = report_width(), .column = 4,
	};
	size_t count;
	const struct fact *facts = model_facts(model, &count);

	fprintf(out, "\nCOUNTERS\n");
	put_known(model, out);
	for (size_t i = 0; i < count; i++) {
		const struct fact *fact = &facts[i];

		if (fact->type != GT_COUNTERS)
			continue;
		if (strcmp(fact->value, "0") == 0)
			fit_piece(&lines, fact->key);
		else if (meaning_of(fact->key) == NULL)
			put_fact(fact, false, out);
	}
	if (zeros.size > 0)
		fprintf(out, "  all others are 0:\n    %s\n", zeros.data);
}

void report_facts_text(const struct model *model, bool full, FILE *out)
{
	put_facts(model, GT_INFO, "RECORDING", full, out);
	put_counters(model, out);
	put_facts(model, GT_END, "END", full, out);
}

/* ---- JSON ---- */

/* Decimal numbers become JSON numbers, all other values strings. */
static void json_fact(struct json *json, const struct model *model,
		      const struct fact *fact)
{
	LOCAL_BUFFER command = { 0 };
	uint64_t value;

	if (fact->type == GT_INFO && strcmp(fact->key, "command") == 0) {
		model_command(model, &command);
		json_string(json, fact->key, buffer_text(&command));
	} else if (strlen(fact->value) < 20 &&
		   quantity_parse_count(fact->value, &value) == 0) {
		json_uint(json, fact->key, value);
	} else {
		json_string(json, fact->key, fact->value);
	}
}

static void json_facts(struct json *json, const struct model *model,
		       unsigned type, const char *name)
{
	size_t count;
	const struct fact *facts = model_facts(model, &count);

	json_object(json, name);
	for (size_t i = 0; i < count; i++)
		if (facts[i].type == type)
			json_fact(json, model, &facts[i]);
	json_end_object(json);
}

void report_facts_json(struct json *json, const struct model *model)
{
	json_facts(json, model, GT_INFO, "info");
	json_facts(json, model, GT_COUNTERS, "counters");
	json_facts(json, model, GT_END, "end");
}
