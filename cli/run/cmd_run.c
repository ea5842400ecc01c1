/*
 * cmd_run.c: `gnomon run`: start a program under the recorder. Runs in the
 * main thread.
 *
 * The options are the recorder's own table (preload/base/options.h). They are
 * checked here, so that a wrong one is reported before the program starts. They
 * are passed as environment variables, which override those set before.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/run/run_end.h"
#include "cli/run/emulator.h"
#include "cli/commands.h"
#include "cli/run/program.h"
#include "cli/run/program_warn.h"
#include "cli/command/option_help.h"
#include "cli/command/options_check.h"
#include "cli/run/ownership.h"
#include "cli/run/patch_plan.h"
#include "cli/run/unwind_rules.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/live/live_cleanup.h"
#include "preload/base/options.h"
#include "preload/base/patch_format.h"

#define OWN_OPTIONS 3		/* COMMAND_COMMON_OPTIONS */

/* A repeated list option appends to the list. */
static int parse_option(void *owner, int id, const char *value)
{
	const struct options *options = owner;
	enum option_id option = (enum option_id)(id - 1);
	enum option_type type = options_table[option].type;
	char *longer = NULL;
	int err;

	if (value == NULL)
		value = type == OPTION_SWITCH ? "1" : option_help[option].bare;
	if (!options_fit(option, value))
		return -EINVAL;
	if (type == OPTION_LIST && options->given[option])
		longer = grow_format("%s,%s", options_text(options, option),
				     value);
	err = longer != NULL && !options_fit(option, longer) ? -EINVAL :
		options_set(owner, option, longer != NULL ? longer : value);
	free(longer);
	return err;
}

/* ---- settings ---- */

static char *absolute(const char *path)
{
	char here[PATH_MAX];

	if (path[0] == '/')
		return grow_copy(path, strlen(path));
	/* a removed directory: no file can be created in it, so the recorder
	 * uses another directory, and says so */
	if (getcwd(here, sizeof(here)) == NULL)
		return grow_format("./%s", path);
	return grow_format("%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
}

/* The pattern for the recorder: - is standard output. */
static char *where(const char *output)
{
	if (strcmp(output, "-") == 0)
		output = "/dev/stdout";
	return absolute(output);
}

/*
 * An existing trace is only overwritten with --force. It is then removed here,
 * so that the recorder need not know which traces are of this run. Pipes and
 * devices are used as they are. False after a message.
 */
static bool make_way(const struct options *options, const char *name)
{
	struct stat status;

	if (lstat(name, &status) != 0 || S_ISFIFO(status.st_mode) ||
	    S_ISCHR(status.st_mode))
		return true;
	if (!options->number[OPTION_FORCE]) {
		log_error("%s: exists already: name another file with -o, "
			  "or overwrite it with --force", name);
		return false;
	}
	/* A trace being written stays: the recorder chooses another name. */
	if (S_ISREG(status.st_mode) && live_recover_is_locked(name))
		return true;
	if (S_ISDIR(status.st_mode))
		errno = EISDIR;
	else if (unlink(name) == 0)
		return true;
	log_error("%s: cannot be replaced: %s: name another file with -o",
		  name, strerror(errno));
	return false;
}

static bool may_write(const struct options *options, const char *pattern,
		      const char *program)
{
	char *name = run_end_known_name(pattern, program);
	bool may = run_end_is_descriptor(pattern) || name == NULL ||
		make_way(options, name);

	free(name);
	return may;
}

/* An option's value as text for its environment variable, to be freed. */
static char *variable_value(const struct options *options, enum option_id id)
{
	const struct option_entry *entry = &options_table[id];
	unsigned long long number = options->number[id];
	const char *text = options_text(options, id);

	switch (entry->type) {
	case OPTION_PATH:
		return text[0] ? absolute(text) : grow_copy("", 0);
	case OPTION_TEXT:
	case OPTION_LIST:
		return grow_copy(text, strlen(text));
	case OPTION_CHOICE:
		text = entry->words;
		for (; number > 0; number--)
			text = strchr(text, '|') + 1;
		return grow_copy(text, strcspn(text, "|"));
	case OPTION_TIME:
		return grow_format("%lluns", number);
	default:
		if (number == UINT64_MAX)
			return grow_copy(entry->fallback,
					 strlen(entry->fallback));
		return grow_format("%llu", number);
	}
}

static void set_variable(enum option_id id, const char *value)
{
	const char *name = options_table[id].variable;

	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void set_environment(const struct options *options,
			    const char *pattern)
{
	for (int id = 0; id < OPTION_COUNT; id++) {
		char *value;

		if (!options->given[id])
			continue;
		value = variable_value(options, (enum option_id)id);
		set_variable((enum option_id)id, value);
		free(value);
	}
	set_variable(OPTION_OUTPUT, pattern);
	/* The command has removed the file already. */
	set_variable(OPTION_FORCE, NULL);
}

/* Set by the command, as some libraries read them very early. */
static void set_no_pools(const struct options *options)
{
	if (!options->number[OPTION_NO_POOLS])
		return;
	for (size_t i = 0; options_no_pools[i] != NULL; i++) {
		char *name = grow_copy(options_no_pools[i],
				       strlen(options_no_pools[i]));
		char *value = strchr(name, '=');

		*value++ = 0;
		setenv(name, value, 0);
		free(name);
	}
}

/* Sets the directory of rules for code without unwind tables, unless nothing
 * will be recorded. */
static void set_rules(const struct options *options, const char *program,
		      const struct patch_plan_libraries *files)
{
	const char *given = options_text(options, OPTION_CFI_DIR);
	char *rules = program_is_static(program) ? NULL :
		unwind_rules(files, given);

	/* a given directory is set already, as an absolute path */
	if (rules != NULL && given[0] == 0)
		set_variable(OPTION_CFI_DIR, rules);
	free(rules);
}

static void set_emulated_rules(const struct options *options,
			       const struct emulator *emulator)
{
	struct patch_plan_libraries files = { 0 };

	patch_plan_libraries_emulated(&files, emulator->guest, emulator->root,
				      emulator->triplet);
	set_rules(options, emulator->guest, &files);
	patch_plan_libraries_free(&files);
}

/* Sets the patch plan and the rules. */
static void set_plan(const struct options *options, const char *program,
		     char *const *arguments)
{
	struct patch_plan_libraries files = { 0 };
	char *plan = patch_plan_make(program, arguments, &files);

	set_rules(options, program, &files);
	patch_plan_libraries_free(&files);
	if (plan != NULL)
		setenv(PATCH_VARIABLE, plan, 1);
	else
		unsetenv(PATCH_VARIABLE);
	free(plan);
}

/* Sets the path of this command, which the recorder runs for reports. */
static void set_command(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return;
	self[n] = 0;
	setenv(OPTIONS_COMMAND, self, 1);
}

/*
 * Recovers live files of earlier recordings, wherever this one may create its
 * own: adds their events to traces in this one's directory, and frees the
 * space. Before the start, not in the traces' directory: it may have very many
 * files.
 */
static void cleanup_live_files(const char *pattern, bool before)
{
	char *traces = grow_format("%.*s", (int)(strrchr(pattern, '/') -
						 pattern) + 1, pattern);
	const char *live_dir = getenv(
		options_table[OPTION_LIVE_DIR].variable);

	live_cleanup_files("/dev/shm", traces);
	if (live_dir != NULL && live_dir[0] != 0)
		live_cleanup_files(live_dir, traces);
	if (!before)
		live_cleanup_files(traces, traces);
	free(traces);
}

/* ---- run ---- */

/* The program to start, and whether it can be recorded. */
struct start {
	const char *program;
	char **argv;
	const char *library;	/* to preload; NULL: none */
	bool possible;
	bool emulated;	/* start times in its trace are the emulator's */
};

/* Runs the program and exits with its status. Returns only if the start failed:
 * the exit status. */
static int run_start(const struct start *start, const char *pattern)
{
	struct run_end_traces traces;
	uint64_t start_time;
	siginfo_t end;
	int status;
	pid_t pid;

	cleanup_live_files(pattern, true);
	pid = program_start(start->program, start->argv, start->library,
			    &status);
	if (pid < 0)
		return status;
	program_wait(&end);
	start_time = start->emulated ? 0 : run_end_start_time(pid);
	program_interruptible(&end);
	run_end_wait(pattern, pid, start_time, &traces);
	program_reap(pid);
	cleanup_live_files(pattern, false);
	if (start->possible && !log_is_quiet())
		run_end_paragraph(pattern, &traces);
	program_end_as(&end);
}

/* Runs a program for this processor. */
static int run_native(const struct options *options, const char *program,
		      char **argv, const char *library, const char *pattern)
{
	struct start start = { program, argv, NULL, false, false };

	if (!may_write(options, pattern, program))
		return PROGRAM_OWN_FAILURE;
	start.possible = program_warn(program, library);
	if (start.possible) {
		start.library = library;
		set_environment(options, pattern);
		set_plan(options, program, argv + 1);
		set_no_pools(options);
		set_command();
	}
	return run_start(&start, pattern);
}

/* Runs a program for another processor under an emulator. */
static int run_emulated(const struct options *options,
			const struct emulator *emulator, const char *pattern)
{
	struct start start = { emulator->program, emulator->argv, NULL, true,
			       true };

	if (!may_write(options, pattern, emulator->guest))
		return PROGRAM_OWN_FAILURE;
	program_warn_emulated(emulator->guest);
	set_environment(options, pattern);
	set_emulated_rules(options, emulator);
	emulator_set_environment(emulator);
	set_no_pools(options);
	set_command();
	return run_start(&start, pattern);
}

static int run_program(const struct options *options, char **argv)
{
	int status = PROGRAM_OWN_FAILURE;
	char *program = program_find(argv[0], &status);
	char *library = program ? program_library() : NULL;
	char *pattern = where(options_text(options, OPTION_OUTPUT));
	struct emulator emulator;

	if (library != NULL &&
	    emulator_find(&emulator, program, argv, library, &status)) {
		status = run_emulated(options, &emulator, pattern);
		emulator_free(&emulator);
	} else if (library != NULL && status == 0) {
		status = run_native(options, program, argv, library, pattern);
	}
	free(program);
	free(library);
	free(pattern);
	return status;
}

/* Checks the log file before the program starts, rather than in the
 * recorder. */
static bool log_opens(const struct options *options)
{
	const char *path = options_text(options, OPTION_LOG_FILE);
	struct stat st;
	int fd;

	if (path[0] == 0 || options->number[OPTION_LOG] == OPTION_LOG_OFF)
		return true;
	/* a pipe's reader would read its end, once this closes the pipe */
	if (lstat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
		  O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0) {
		log_error("%s: cannot write the log: %s: choose another file "
			  "with --log-file", path, strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

static bool settle_options(struct options *options)
{
	const char *wrong = options_disagree(options);
	const char *whose = options_text(options, OPTION_CHOWN);
	char numbers[OWNERSHIP_TEXT];

	if (wrong != NULL) {
		log_error("%s", wrong);
		return false;
	}
	if (whose[0] != 0) {
		if (!ownership_find(whose, numbers)) {
			log_error("--chown %s: no such user or group: give "
				  "one that `getent passwd` or `getent group` "
				  "lists", whose);
			return false;
		}
		options_set(options, OPTION_CHOWN, numbers);
	}
	return log_opens(options);
}

static int run_run(const struct command *command, int argc, char **argv)
{
	static struct options options;
	const char *bad;
	int operands, status;

	log_set_failure_status(PROGRAM_OWN_FAILURE);
	options_default(&options);
	if (options_environment(&options, environ, &bad) != 0 ||
	    (bad = options_misfit(environ)) != NULL) {
		log_error("%s: bad environment variable: see `gnomon run "
			  "--help`", bad);
		return PROGRAM_OWN_FAILURE;
	}
	if (!command_parse(command, argc, argv, parse_option, &options,
			   &operands, &status))
		return status;
	if (!settle_options(&options))
		return PROGRAM_OWN_FAILURE;
	if (operands == 0) {
		log_error("no program given: use `gnomon run PROGRAM "
			  "[ARGUMENT...]`: see `gnomon run --help`");
		return PROGRAM_OWN_FAILURE;
	}
	return run_program(&options, argv + 1);
}

static const char *const description[] = {
	"Runs PROGRAM and records each of its allocations with its call stack "
	"in a trace. The program gets the standard streams, the terminal and "
	"signals such as Ctrl-C. gnomon exits with the program's status, or "
	"by the signal that killed it. At the end it prints a short summary; "
	"`gnomon report` then reads the trace.",
	"Every option --some-name can also be set by the environment variable "
	"GNOMON_SOME_NAME. With LD_PRELOAD=/PATH/libgnomon.so and these "
	"variables, a program is recorded without `gnomon run`, and nothing is "
	"printed.",
	"A program for another processor runs under qemu's user emulation, "
	"with the library that `make ARCH=... install` installs for that "
	"processor. PROGRAM may also be a qemu that runs such a program.",
	"Exit status: that of the program; 127: not found; 126: not "
	"executable; 125: gnomon failed and did not start the program.",
	NULL
};

static const char *const examples[] = {
	"gnomon run ls -l", "record ls, then read the trace with `gnomon "
			    "report`",
	"gnomon run -o /tmp/a.trace -- ./server --port 80",
	"arguments after -- belong to the program",
	NULL
};

static const struct command_option own_options[] = {
	COMMAND_COMMON_OPTIONS
};
_Static_assert(sizeof(own_options) / sizeof(own_options[0]) == OWN_OPTIONS,
	       "as many as the macro has");

const struct command *cmd_run_command(void)
{
	static struct command_option options[OPTION_COUNT + OWN_OPTIONS];
	static struct command command = {
		.name = "run",
		.operands = "[--] PROGRAM [ARGUMENT...]",
		.summary = "record what a program allocates",
		.description = description,
		.examples = examples,
		.options = options,
		.option_count = OPTION_COUNT + OWN_OPTIONS,
		.stops_at_operand = true,
		.wrong_use = PROGRAM_OWN_FAILURE,
		.main = run_run,
	};

	for (int id = 0; id < OPTION_COUNT; id++) {
		const struct option_entry *entry = &options_table[id];
		const struct option_help *help = &option_help[id];

		options[id] = (struct command_option){
			id + 1, help->name, help->letter,
			entry->words != NULL ? entry->words : help->value,
			entry->type == OPTION_SWITCH ? NULL : entry->fallback,
			help->text };
	}
	memcpy(options + OPTION_COUNT, own_options, sizeof(own_options));
	return &command;
}
