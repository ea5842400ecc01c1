/*
 * cmd_info.c: `gnomon info`: prints what a trace is, how it was recorded, and
 * its mappings. Runs in the main thread.
 */
#include <errno.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/info/info.h"

enum { SIZES = 1, JSON };

static const struct command_option options[] = {
	{ SIZES, "sizes", 0, NULL, NULL,
	  "also how the trace's bytes are used, and compression ratios" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&trace_args_symbols,
	NULL
};

struct request {
	struct trace_args args;
	bool sizes;
	bool json;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	if (id == SIZES)
		request->sizes = true;
	else
		request->json = true;
	return 0;
}

static int info(const struct request *request, const char *trace)
{
	const struct model_options asked = { .notes = log_notes() };
	struct model *model = model_new(&asked, NULL);
	static struct info_sizes sizes;
	const struct info_sizes *known = NULL;
	struct frames frames;
	int status;

	status = model_read_maps(model, trace);
	if (status == EXIT_NOTHING) {
		model_free(model);
		return status;
	}
	if (request->sizes && info_sizes_read(&sizes, trace))
		known = &sizes;
	else if (request->sizes)
		log_note("%s: can be read only once, so its sizes are "
			 "unknown: write it to a file first", trace);
	trace_args_frames(&request->args, &frames, model);
	if (request->json)
		report_info_json(model, &frames, known, trace, stdout);
	else
		report_info_text(model, &frames, known, trace,
				 request->args.full_names, stdout);
	frames_free(&frames);
	model_free(model);
	if (fflush(stdout) != 0) {
		log_error("standard output: writing the result failed: %s",
			  strerror(errno));
		return EXIT_NOTHING;
	}
	return status;
}

static int run_info(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (trace_args_find_one(&request.args, operands, argv + 1))
		status = info(&request, request.args.traces[0]);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Prints facts about the recording itself: the program, its threads and "
	"mapped files, how stacks were captured and why they ended, what was "
	"dropped, and how the recording ended. Also mappings, with time and "
	"origin: the program's own calls with their stacks, and mappings made "
	"inside malloc, pthread_create and dlopen.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be "
	"read; 3: parts of the trace were missing or damaged.",
	NULL
};

static const char *const examples[] = {
	"gnomon info a.trace", "threads, mappings, settings, how it ended",
	"gnomon info --sizes a.trace",
	"also how many bytes of the trace each kind of data takes",
	NULL
};

const struct command cmd_info = {
	.name = "info",
	.operands = "[TRACE]",
	.summary = "show what a trace is and how it was recorded",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_info,
};
