/*
 * cmd_anonymize.c: `gnomon anonymize`: a trace for others, without its names.
 * Runs in the main thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/transform/anonymize.h"
#include "cli/transform/transform.h"

#define KEY_BYTES_MAX 4096

enum { KEY = 1, KEY_FILE, KEEP_BUILD_IDS };

static const struct command_option options[] = {
	{ KEY, "key", 'k', "TEXT", "a random one",
	  "traces anonymised with the same key get the same new names for the "
	  "same old names; whoever knows the key can verify guesses; other "
	  "users of this machine can see it while gnomon runs" },
	{ KEY_FILE, "key-file", 0, "FILE", NULL,
	  "read the key from FILE, without one newline at its end" },
	{ KEEP_BUILD_IDS, "keep-build-ids", 0, NULL, NULL,
	  "keep the build-ids: with the same programs, the names of functions "
	  "can still be found" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&transform_options,
	NULL
};

struct request {
	struct trace_args args;
	struct transform transform;
	struct anonymize anonymize;
	const char *key;
	const char *key_file;
	bool keep_build_ids;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (transform_has(id))
		return transform_take(&request->transform, id, value);
	switch (id) {
	case KEY:
		request->key = value;
		return value[0] == 0 ? -EINVAL : 0;
	case KEY_FILE:
		request->key_file = value;
		return 0;
	default:
		request->keep_build_ids = true;
		return 0;
	}
}

/* Editors and echo end a file with a newline, which is not part of the key. */
static bool read_key(struct request *request)
{
	char key[KEY_BYTES_MAX + 2];	/* with a newline; one too many */
	FILE *file = fopen(request->key_file, "re");
	size_t size = file ? fread(key, 1, sizeof(key), file) : 0;
	bool good = false;

	if (size > 0 && key[size - 1] == '\n')
		size--;
	if (file == NULL || ferror(file))
		log_error("%s: the key cannot be read: %s", request->key_file,
			  strerror(errno));
	else if (size == 0)
		log_error("%s: the file has no key: write one into it",
			  request->key_file);
	else if (size > KEY_BYTES_MAX)
		log_error("%s: the key is longer than %d bytes: give a shorter "
			  "one", request->key_file, KEY_BYTES_MAX);
	else
		good = anonymize_init(&request->anonymize, key, size) == 0;
	if (file != NULL)
		fclose(file);
	explicit_bzero(key, sizeof(key));
	return good;
}

static bool options_are_consistent(const struct request *request)
{
	if (request->key == NULL || request->key_file == NULL)
		return true;
	log_error("--key --key-file: leave out one of them");
	return false;
}

static bool make_key(struct request *request)
{
	int error;

	if (request->key_file != NULL)
		return read_key(request);
	error = anonymize_init(&request->anonymize, request->key,
			       request->key ? strlen(request->key) : 0);
	if (error != 0)
		log_error("no random key can be made: %s: give one with "
			  "--key", strerror(-error));
	return error == 0;
}

static int anonymize(struct request *request)
{
	const char *trace = request->args.traces[0];
	struct repack_change change;
	int status;

	if (!make_key(request))
		return EXIT_NOTHING;
	request->anonymize.keep_build_ids = request->keep_build_ids;
	anonymize_change(&request->anonymize, &change);
	status = transform_run(&request->transform, trace, &change, NULL,
			       NULL);
	if (status != EXIT_NOTHING)
		transform_report(&request->transform, trace);
	return status;
}

static int run_anonymize(const struct command *command, int argc, char **argv)
{
	static struct request request;
	int operands, status;

	memset(&request, 0, sizeof(request));
	trace_args_init(&request.args);
	transform_init(&request.transform);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (options_are_consistent(&request) &&
	    transform_is_complete(&request.transform) &&
	    trace_args_find_one(&request.args, operands, argv + 1))
		status = anonymize(&request);
	explicit_bzero(&request.anonymize, sizeof(request.anonymize));
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Writes a copy of a trace with new names for the program, its "
	"arguments, the host, users, threads, files, mappings, snapshots, and "
	"code made at run time. New names are hashes of the old names and a "
	"key, so they are the same in all traces with that key. Embedded files "
	"are left out; build-ids and inodes are replaced.",
	"Kept are: addresses, sizes, times and their order; stacks, as "
	"addresses; process and thread ids; the depth of directories, and "
	"which files share one; the number of arguments; versions, "
	"architecture, options of the recording, and how the program ended.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be read "
	"or written; 3: parts of the trace were missing or damaged: the "
	"result has all other parts, and reports of it show what it lacks.",
	NULL
};

static const char *const examples[] = {
	"gnomon anonymize a.trace -o for-others.trace",
	"with a random key",
	"gnomon anonymize a.trace -o b.trace --key-file ~/.gnomon-key",
	"comparable with other traces of that key",
	NULL
};

const struct command cmd_anonymize = {
	.name = "anonymize",
	.operands = "[TRACE] -o FILE",
	.summary = "replace all names in a trace",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_anonymize,
};
