/*
 * cmd_control.c: `gnomon start`, `stop`, `snapshot` and `clear`: control the
 * recording of a running program. Main thread.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/json.h"
#include "cli/commands.h"
#include "cli/control/control_client.h"
#include "cli/trace/format/trace_format.h"

enum { JSON = 1 };

static const struct command_option options[] = {
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	COMMAND_COMMON_OPTIONS,
};

#define OPTION_TOTAL (sizeof(options) / sizeof(options[0]))

static int parse_option(void *owner, int id, const char *value)
{
	bool *json = owner;

	(void)id, (void)value;
	*json = true;
	return 0;
}

static bool read_pid(const char *text, int *pid)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != 0 || number < 1 ||
	    number > INT_MAX)
		return false;
	*pid = (int)number;
	return true;
}

static void print_json(const char *command, int pid,
		       const struct control_reply *reply)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_string(&json, "command", command);
	json_uint(&json, "pid", (uint64_t)pid);
	json_bool(&json, "done", reply->done);
	json_bool(&json, "recording", reply->on);
	json_string(&json, "name", reply->name[0] ? reply->name : NULL);
	json_string(&json, "trace", reply->trace);
	json_string(&json, "message",
		    reply->message[0] ? reply->message : NULL);
	json_end_object(&json);
}

static void print_text(const char *command, int pid,
		       const struct control_reply *reply)
{
	if (!reply->done)
		log_error("%d: %s: nothing was changed", pid,
			  reply->message);
	else if (log_is_quiet())
		return;
	else if (strcmp(command, "snapshot") == 0)
		printf("%d: snapshot @%s is in %s\n", pid, reply->name,
		       reply->trace);
	else if (strcmp(command, "clear") == 0)
		printf("%d: reports of %s leave out everything recorded before "
		       "now\n", pid, reply->trace);
	else if (reply->on)
		printf("%d: recording started, trace %s\n", pid, reply->trace);
	else
		printf("%d: recording stopped, trace %s\n", pid,
		       reply->trace);
}

static int ask(const char *command, const char *name, int pid, bool json)
{
	static struct control_reply reply;
	char *request = name == NULL ? grow_copy(command, strlen(command)) :
		grow_format("%s %s", command, name);
	bool answered = control_client_request(pid, request, &reply);

	free(request);
	if (!answered)
		return EXIT_NOTHING;
	if (json)
		print_json(command, pid, &reply);
	else
		print_text(command, pid, &reply);
	if (fflush(stdout) != 0) {
		log_error("standard output: writing the result failed: %s",
			  strerror(errno));
		return EXIT_NOTHING;
	}
	return reply.done ? EXIT_COMPLETE : EXIT_NO;
}

/* Whether a name can be sent: a request is one line of text, so a name has no
 * control characters. */
static bool name_fits(const char *name)
{
	for (const char *at = name; *at != 0; at++) {
		if ((unsigned char)*at >= ' ' && *at != 0x7f)
			continue;
		log_error("a name must not have control characters, and this "
			  "one has one at byte %zu: give another name",
			  (size_t)(at - name) + 1);
		return false;
	}
	if (strlen(name) < GT_NAME_MAX)
		return true;
	log_error("name too long (at most %d bytes): this one has %zu",
		  GT_NAME_MAX - 1, strlen(name));
	return false;
}

/* pidof prints a program and its recorder, which have the same name. Reduces
 * such a list to the program. */
static int settle_pids(int operands, char **argv)
{
	int first, other;

	if (operands < 2 || !read_pid(argv[0], &first))
		return operands;
	for (int i = 1; i < operands; i++)
		if (!read_pid(argv[i], &other) ||
		    control_client_recorded(other) !=
		    control_client_recorded(first))
			return operands;
	return 1;
}

/* The name may come before or after the pid. */
static int run_control(const struct command *command, int argc, char **argv)
{
	bool takes_name = strcmp(command->name, "snapshot") == 0, json = false;
	const char *name = NULL;
	int operands, status, pid;

	if (!command_parse(command, argc, argv, parse_option, &json,
			   &operands, &status))
		return status;
	argv++;
	operands = settle_pids(operands, argv);
	if (operands == 2 && takes_name &&
	    read_pid(argv[0], &pid) != read_pid(argv[1], &pid)) {
		bool first = !read_pid(argv[0], &pid);

		name = first ? argv[0] : argv[1];
		argv[0] = first ? argv[1] : argv[0];
		operands = 1;
	}
	if (operands != 1 || !read_pid(argv[0], &pid)) {
		log_error("%s: give the id of one process, as in `gnomon %s "
			  "%s1234`", operands > 0 ? argv[operands - 1] :
			  command->name,
			  command->name, takes_name ? "[NAME] " : "");
		return EXIT_NOTHING;
	}
	if (name != NULL && !name_fits(name))
		return EXIT_NOTHING;
	return ask(command->name, name, control_client_recorded(pid), json);
}

#define EXIT_PARAGRAPH							\
	"Only the user who started the recording, or root, may use this. "	\
	"Exit status: 0: done; 1: already in that state; 2: wrong use, or no "	\
	"answer from the program's recorder."

static const char *const start_description[] = {
	"Starts to record a program that was started with `gnomon run --off`, "
	"or whose recording was stopped. All recordings of a process go into "
	"one trace. Reports show the recording since the last start, unless "
	"--from start is given: older blocks and their frees are not counted.",
	EXIT_PARAGRAPH,
	NULL
};
static const char *const stop_description[] = {
	"Stops the recording of a program; `gnomon start` starts a new one. "
	"The program keeps running, hardly slower than without gnomon. The "
	"trace can be read immediately.",
	EXIT_PARAGRAPH,
	NULL
};
static const char *const snapshot_description[] = {
	"Records all mappings of a program with their resident sizes, and the "
	"memory held by its allocator. A snapshot has a name, which other "
	"commands accept as a time, as in --to @NAME. Without NAME, the name "
	"is a number; a NAME in use gets a number appended. Waits until the "
	"snapshot is complete.",
	EXIT_PARAGRAPH,
	NULL
};
static const char *const clear_description[] = {
	"Makes reports leave out everything recorded so far, like a stop and a "
	"start without a gap between them. Reports with --from start still "
	"include it.",
	EXIT_PARAGRAPH,
	NULL
};

static const char *const start_examples[] = {
	"gnomon start $(pgrep -o server)", "start to record a server", NULL
};
static const char *const stop_examples[] = {
	"gnomon stop $(pgrep -o server)", "stop recording it", NULL
};
static const char *const snapshot_examples[] = {
	"gnomon snapshot warm 1234",
	"then `gnomon report --from @warm` reports what follows", NULL
};
static const char *const clear_examples[] = {
	"gnomon clear 1234", "report only what follows", NULL
};

#define CONTROL_COMMAND(word, arguments, text)				\
	const struct command cmd_##word = {				\
		.name = #word,						\
		.operands = arguments,					\
		.summary = text,					\
		.description = word##_description,			\
		.examples = word##_examples,				\
		.options = options,					\
		.option_count = OPTION_TOTAL,				\
		.wrong_use = EXIT_NOTHING,				\
		.main = run_control,					\
	}

CONTROL_COMMAND(start, "PID", "start recording a running program");
CONTROL_COMMAND(stop, "PID", "stop recording a running program");
CONTROL_COMMAND(snapshot, "[NAME] PID",
		"record the resident memory of a running program");
CONTROL_COMMAND(clear, "PID", "make reports count from now on");
