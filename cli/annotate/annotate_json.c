/*
 * annotate_json.c: functions with their costs as JSON: all measures, not only
 * those in the text. Called by the main thread.
 */
#include <string.h>

#include "cli/annotate/annotate.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/images.h"

#define TEXT_WIDTH 4096

/* Which measures to print. */
struct shown {
	uint64_t end_ns;
	bool own_peaks;
};

static void put_sum(struct json *json, const struct annotate_sum *sum,
		    const struct shown *shown)
{
	report_json_figures(json, &sum->all, shown->end_ns, shown->own_peaks);
	json_object(json, "self");
	report_json_figures(json, &sum->self, shown->end_ns, shown->own_peaks);
	json_end_object(json);
}

static void put_text(struct json *json, const struct annotate_source *source,
		     unsigned line)
{
	struct buffer text = { 0 };

	if (line == 0 || line > source->lines) {
		json_string(json, "text", NULL);
		return;
	}
	buffer_string(&text, "");
	annotate_source_line(source, line, 0, TEXT_WIDTH, &text);
	json_string(json, "text", text.data);
	buffer_free(&text);
}

static void put_file(struct json *json, const struct annotate_pieces *pieces,
		     const struct annotate_line *lines, size_t count,
		     const struct shown *shown)
{
	struct annotate_source source = { 0 };
	const char *directory, *binary;

	if (lines[0].file != NULL) {
		annotate_pieces_place(pieces, lines[0].file, &directory,
				      &binary);
		annotate_source_read(&source, pieces->options, lines[0].file,
				     directory, binary);
	}
	json_object(json, NULL);
	json_string(json, "file", lines[0].file);
	json_string(json, "path", source.path);
	json_bool(json, "newer", source.newer);
	json_array(json, "lines");
	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		json_uint(json, "line", lines[i].line);
		put_text(json, &source, lines[i].line);
		put_sum(json, &lines[i].sum, shown);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	annotate_source_free(&source);
}

static void put_files(struct json *json, const struct annotate_pieces *pieces,
		      const struct annotate_function *function,
		      const struct shown *shown)
{
	size_t from = 0, to;

	json_array(json, "files");
	for (; from < function->line_count; from = to) {
		const struct annotate_line *lines = &function->lines[from];

		for (to = from + 1; to < function->line_count &&
			     function->lines[to].file == lines->file; to++)
			;
		put_file(json, pieces, lines, to - from, shown);
	}
	json_end_array(json);
}

static void put_calls(struct json *json, const struct annotate *annotate,
		      const struct annotate_function *function,
		      const struct shown *shown)
{
	const struct images *images = model_images(annotate->model);

	json_array(json, "calls");
	for (size_t i = 0; i < function->call_count; i++) {
		const struct annotate_call *call = &function->calls[i];
		bool known = call->image != IMAGE_NONE;

		json_object(json, NULL);
		json_uint(json, "address", call->address);
		json_uint(json, "module_offset", known ? call->address -
			  images->list[call->image].bias : 0);
		json_bool(json, "inlined", call->inlined);
		json_string(json, "callee", call->callee);
		put_sum(json, &call->sum, shown);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_instructions(struct json *json,
			     const struct annotate_piece *piece,
			     const struct annotate_listing *listing)
{
	struct code_line line;

	json_array(json, "instructions");
	for (size_t i = 0; i < listing->count; i++) {
		const struct annotate_instruction *at = &listing->list[i];

		json_object(json, NULL);
		json_uint(json, "address", at->address);
		json_uint(json, "module_offset", at->address - piece->bias);
		if (at->label)
			json_uint(json, "label", at->label);
		json_string(json, "text", at->text);
		if (code_line(piece->code, at->address, &line)) {
			json_string(json, "file", line.file);
			json_uint(json, "line", line.line);
		}
		if (at->call)
			json_uint(json, "returns_to", at->call->address);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_code(struct json *json, const struct annotate_pieces *pieces)
{
	json_array(json, "code");
	for (size_t i = 0; i < pieces->count; i++) {
		const struct annotate_piece *piece = &pieces->list[i];
		struct annotate_listing listing;
		const char *why = annotate_disassemble(piece, &listing);

		json_object(json, NULL);
		json_string(json, "library", piece->library);
		json_uint(json, "module_offset",
			  piece->range.start - piece->bias);
		json_uint(json, "size",
			  piece->range.end - piece->range.start);
		json_string(json, "symbol", piece->range.symbol);
		json_string(json, "error", why);
		put_instructions(json, piece, &listing);
		json_end_object(json);
		annotate_listing_free(&listing);
	}
	json_end_array(json);
}

void annotate_json(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out)
{
	const struct report_options asked = { .query = annotate->query };
	struct report report = {
		.options = &asked,
		.model = annotate->model,
		.keep = annotate->filter ? stack_filter_keeps : NULL,
		.keeper = annotate->filter,
	};
	const struct shown shown = {
		model_duration_ns(annotate->model), !options->no_own_peaks,
	};
	struct annotate_pieces pieces;
	struct json json = { .out = out };

	annotate_pieces_init(&pieces, annotate, options);
	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_string(&json, "trace", model_trace(annotate->model));
	report_about(&report, "");
	report.about.sum = annotate->total;
	report.about.contexts = annotate->contexts;
	report_json_summary(&json, &report);
	report_process_free(&report.about);
	json_string(&json, "cost", measure_kinds[options->measure].name);
	json_uint(&json, "matches", annotate->count);
	/* Whether missing source files were looked for. */
	json_bool(&json, "sources_sought", !options->only_roots ||
		  options->root_count > 0);
	json_array(&json, "rows");
	for (size_t i = 0; i < annotate->count; i++) {
		const struct annotate_function *function =
			&annotate->functions[i];

		json_object(&json, NULL);
		json_string(&json, "function", function->name);
		json_string(&json, "library", function->library);
		put_sum(&json, &function->sum, &shown);
		if (i == 0 || options->every) {
			annotate_pieces_find(&pieces, function);
			put_files(&json, &pieces, function, &shown);
			put_calls(&json, annotate, function, &shown);
			put_code(&json, &pieces);
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	annotate_pieces_free(&pieces);
}
