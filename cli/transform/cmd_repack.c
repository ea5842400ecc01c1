/*
 * cmd_repack.c: `gnomon repack`: the same trace in fewer bytes, with or without
 * embedded files for symbolization. Runs in the main thread.
 */
#include <errno.h>

#include "cli/base/terminal/log.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/transform/embed.h"
#include "cli/transform/transform.h"

enum { EMBED = 1, INCLUDE };

static const struct command_option options[] = {
	{ EMBED, "embed", 0, "none|debug|full", "what the trace has",
	  "which files to embed: symbols, unwind and line tables of all mapped "
	  "files (debug); also the full files (full); or "
	  "none, and embedded files are removed" },
	{ INCLUDE, "include", 0, "GLOB", NULL,
	  "embed these files too; may be given several times" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&transform_options,
	&trace_args_symbols,
	NULL
};

struct request {
	struct trace_args args;
	struct transform transform;
	struct embed embed;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (transform_has(id))
		return transform_take(&request->transform, id, value);
	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	if (id == EMBED) {
		request->embed.what = value[0] == 'n' ? EMBED_NONE :
			value[0] == 'd' ? EMBED_DEBUG : EMBED_FULL;
		return 0;
	}
	if (request->embed.glob_count == EMBED_GLOBS_MAX)
		return -ERANGE;
	request->embed.globs[request->embed.glob_count++] = value;
	return 0;
}

static int repack(struct request *request)
{
	const char *trace = request->args.traces[0];
	struct repack_change change;
	int status;

	request->embed.places = &request->args.places;
	embed_change(&request->embed, &change);
	status = transform_run(&request->transform, trace, &change, embed_add,
			       &request->embed);
	if (status != EXIT_NOTHING)
		transform_report(&request->transform, trace);
	return status;
}

static int run_repack(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	trace_args_init(&request.args);
	transform_init(&request.transform);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (transform_is_complete(&request.transform) &&
	    trace_args_find_one(&request.args, operands, argv + 1))
		status = repack(&request);
	embed_free(&request.embed);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Writes a copy of a trace: small chunks are joined, everything is "
	"compressed harder than was possible during recording, and the events "
	"left in a live file are added. Reports of the result are exactly "
	"those of the trace.",
	"With --embed debug the result has all function names and line "
	"numbers, and can be read on machines without the program. The files "
	"are searched where `report` searches them.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be read "
	"or written; 3: parts of the trace were missing or damaged: the "
	"result has all other parts, and reports of it show what it lacks.",
	NULL
};

static const char *const examples[] = {
	"gnomon repack a.trace -o small.trace --level 19",
	"as small as possible",
	"gnomon repack a.trace -o b.trace --embed debug",
	"for a reader without the program",
	NULL
};

const struct command cmd_repack = {
	.name = "repack",
	.operands = "[TRACE] -o FILE",
	.summary = "compress a trace harder, embed symbols in it",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_repack,
};
