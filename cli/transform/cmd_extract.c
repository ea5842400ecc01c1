/*
 * cmd_extract.c: `gnomon extract`: lists the files embedded in a trace, or
 * writes them to a directory. Runs in the main thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/json.h"
#include "cli/base/text/quantity.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/trace/read/embedded.h"
#include "cli/trace/read/reader.h"
#include "cli/transform/extract.h"

#define MAX_DEFAULT (UINT64_C(8) << 30)

enum { OUTPUT = 1, FORCE, MAX_SIZE, JSON };

static const struct command_option options[] = {
	{ OUTPUT, "output", 'o', "DIR", NULL,
	  "write the files below DIR, which is created if needed (default: "
	  "only list them)" },
	{ FORCE, "force", 'f', NULL, NULL, "replace files that exist" },
	{ MAX_SIZE, "max-size", 0, "SIZE", "8G",
	  "write no more than this, all files together" },
	{ JSON, "json", 0, NULL, NULL,
	  "print one JSON object" },
	COMMAND_COMMON_OPTIONS,
};

struct request {
	struct trace_args args;
	const char *output;
	bool force;
	bool max_given;
	bool json;
	uint64_t max;
	struct embedded embedded;
	struct reader_report report;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	switch (id) {
	case OUTPUT:
		request->output = value;
		return value[0] == 0 ? -EINVAL : 0;
	case FORCE:
		request->force = true;
		return 0;
	case MAX_SIZE:
		request->max_given = true;
		return quantity_parse_size(value, &request->max);
	default:
		request->json = true;
		return 0;
	}
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	(void)owner;
	return chunk->type == GT_FILE || chunk->type == GT_END ?
		READER_DECODE : READER_TAKEN;
}

static void ignore_line(void *owner, unsigned type, const char *key,
			const char *value)
{
	(void)owner, (void)type, (void)key, (void)value;
}

static void take_file(void *owner, const struct trace_file *piece, uint64_t at)
{
	embedded_add(&((struct request *)owner)->embedded, piece, at);
}

/* ---- the list ---- */

static const char *kind_name(unsigned kind)
{
	return kind == GT_FILE_DEBUG ? "debug" : kind == GT_FILE_FULL ?
		"full" : kind == GT_FILE_INCLUDED ? "included" : "unknown";
}

static void put_json(struct json *json, const struct embedded_file *file,
		     const char *to)
{
	char hex[2 * GL_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < file->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", file->build_id[i]);
	json_object(json, NULL);
	json_string(json, "path", file->path);
	json_string(json, "kind", kind_name(file->kind));
	json_string(json, "build_id", hex);
	json_uint(json, "bytes", file->size);
	json_bool(json, "complete", file->got == file->size);
	if (to != NULL)
		json_string(json, "file", to);
	json_end_object(json);
}

static void put_line(const struct embedded_file *file, const char *to)
{
	LOCAL_BUFFER line = { 0 };

	buffer_printf(&line, "  %-8s %9s  %s%s", kind_name(file->kind),
		      SIZE_TEXT(file->size > INT64_MAX ? INT64_MAX :
				file->size),
		      to ? to : file->path,
		      file->got == file->size ? "" : "  (incomplete)");
	buffer_printable(&line);
	puts(line.data);
}

/* ---- all of them ---- */

/* EXIT_PARTIAL: some could not be written. */
static int put_files(struct request *request, const char *trace,
		     struct extract *extract)
{
	struct json json = { .out = stdout };
	int status = EXIT_COMPLETE;

	if (request->json) {
		json_object(&json, NULL);
		json_uint(&json, "schema", 1);
		json_array(&json, "files");
	}
	for (size_t i = 0; i < request->embedded.count; i++) {
		const struct embedded_file *file = &request->embedded.files[i];
		char *to = extract == NULL ? NULL :
			extract_file(extract, &request->embedded, i, trace,
				     request->report.trace_id);

		if (extract != NULL && to == NULL)
			status = EXIT_PARTIAL;
		else if (request->json)
			put_json(&json, file, to);
		else
			put_line(file, to);
		free(to);
	}
	if (request->json) {
		json_end_array(&json);
		json_end_object(&json);
	}
	return status;
}

static int extract_all(struct request *request, const char *trace)
{
	const struct reader_sink sink = {
		.owner = request, .chunk = take_chunk, .line = ignore_line,
		.file = take_file,
	};
	int status = reader_run(trace, &sink, &request->report,
				log_notes()), done;
	struct extract extract;

	if (status == EXIT_NOTHING)
		return status;
	if (request->embedded.refused > 0) {
		log_error("%s: %" PRIu64 " pieces of embedded files do not "
			  "fit together: they were ignored", trace,
			  request->embedded.refused);
		status = EXIT_PARTIAL;
	}
	if (request->embedded.count == 0)
		log_note("%s: has no embedded files: `gnomon repack --embed "
			 "debug` adds them", trace);
	if (request->output == NULL) {
		done = put_files(request, trace, NULL);
	} else if (extract_open(&extract, request->output, request->force,
				request->max)) {
		done = put_files(request, trace, &extract);
		extract_close(&extract);
	} else {
		done = EXIT_NOTHING;
	}
	if (fflush(stdout) != 0) {
		log_error("standard output: writing the result failed: %s",
			  strerror(errno));
		return EXIT_NOTHING;
	}
	return done == EXIT_COMPLETE ? status : done;
}

/* Whether the options are compatible: without a directory, nothing is
 * written. */
static bool options_are_consistent(const struct request *request)
{
	if (request->output != NULL || (!request->force && !request->max_given))
		return true;
	log_error("%s: needs --output: add it", request->force ? "--force" :
		  "--max-size");
	return false;
}

static int run_extract(const struct command *command, int argc, char **argv)
{
	struct request request = { .max = MAX_DEFAULT };
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (options_are_consistent(&request) &&
	    trace_args_find_one(&request.args, operands, argv + 1))
		status = extract_all(&request, request.args.traces[0]);
	embedded_free(&request.embedded);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Lists the files embedded in a trace, or writes them below a "
	"directory: each at DIR plus its recorded path. Reduced ELF files "
	"(symbols, unwind and line tables) get the suffix .debug. Whatever "
	"path a trace claims, nothing is written outside DIR, no symbolic link "
	"is followed below DIR, and modes are 0600.",
	"Exit status: 0: all was done; 2: wrong use, or nothing could be "
	"read; 3: parts of the trace were missing or damaged, or a file could "
	"not be written.",
	NULL
};

static const char *const examples[] = {
	"gnomon extract a.trace", "list the embedded files",
	"gnomon extract a.trace -o files", "write them all below files/",
	NULL
};

const struct command cmd_extract = {
	.name = "extract",
	.operands = "[TRACE]",
	.summary = "list or write the files embedded in a trace",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.wrong_use = EXIT_NOTHING,
	.main = run_extract,
};
