/*
 * cmd_repack.c: `gnomon repack`: the same trace in fewer bytes.
 * Runs in the main thread.
 */
#include "cli/base/tell.h"
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/transform.h"

static const struct command_option options[] = {
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&transform_options,
	NULL
};

struct request {
	struct reading reading;
	struct transform transform;
};

static int take(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (transform_has(id))
		return transform_take(&request->transform, id, value);
	return reading_take(&request->reading, id, value);
}

static int repack(struct request *request)
{
	const char *trace = request->reading.traces[0];
	const struct repack_change nothing = { 0 };
	int status = transform_run(&request->transform, trace, &nothing, NULL,
				   NULL);

	if (status != EXIT_NOTHING)
		transform_tell(&request->transform, trace);
	return status;
}

static int run_repack(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	reading_init(&request.reading);
	transform_init(&request.transform);
	if (!command_parse(command, argc, argv, take, &request, &operands,
			   &status))
		return status;
	status = EXIT_NOTHING;
	if (transform_is_complete(&request.transform) &&
	    reading_find_one(&request.reading, operands, argv + 1))
		status = repack(&request);
	reading_free(&request.reading);
	return status;
}

static const char *const description[] = {
	"Writes a trace anew: small chunks are joined, everything is compressed "
	"harder than there was time for while the program ran, and what a live "
	"file still holds is folded in. Reports of the result say exactly "
	"what those of the trace say.",
	"Exit status: 0 all was read; 2 wrong use, or nothing could be read or "
	"written; 3 parts of the trace were missing or damaged: the result has "
	"the rest, and is seen to lack them.",
	NULL
};

static const char *const examples[] = {
	"gnomon repack a.trace -o small.trace --level 19",
	"as small as it gets",
	NULL
};

const struct command cmd_repack = {
	.name = "repack",
	.operands = "[TRACE] -o FILE",
	.summary = "compress a trace harder",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_repack,
};
