/*
 * main.c: dispatches to the command. The options of each command are a table in
 * its own file (base/terminal/command.h).
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/truncated_map.h"
#include "cli/base/terminal/bar.h"
#include "cli/base/terminal/command.h"
#include "cli/base/terminal/manual.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/nearest.h"
#include "cli/commands.h"

#define COMMANDS_MAX 32

static const struct command_option options[] = {
	COMMAND_COMMON_OPTIONS,
};

static const char *const description[] = {
	"A heap profiler: it records every allocation of a program with its "
	"full call stack, cheaply enough for production, and shows which code "
	"holds, leaks and churns memory.",
	"`gnomon COMMAND --help` and `man gnomon-COMMAND` describe each "
	"command.",
	"Exit status: `gnomon run` exits as the program does, other commands "
	"as follows; 0: done; 1: a check failed, or there is a difference; 2: "
	"wrong use, or nothing could be read; 3: parts of a trace were missing "
	"or damaged.",
	NULL
};

static const char *const examples[] = {
	"gnomon run PROGRAM", "record a program",
	"gnomon report", "show what the program allocated, and where",
	"gnomon diff OLD.trace NEW.trace",
	"show what changed between two traces",
	"gnomon check --max-live 0", "fail if the program leaked anything",
	NULL
};

static struct command top = {
	.name = "",
	.operands = "COMMAND ...",
	.summary = "a heap profiler",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.stops_at_operand = true,
	.wrong_use = EXIT_NOTHING,
};

static int take_none(void *owner, int id, const char *value)
{
	(void)owner, (void)id, (void)value;
	return 0;
}

/* `gnomon --make-docs DIR`, for the Makefile: not an option of users. */
static int make_docs(const struct command *const *commands,
		     size_t count, const char *directory)
{
	int error = manual_write(directory, &top, commands, count);

	if (error == 0)
		return EXIT_COMPLETE;
	log_error("%s: manual pages cannot be written: %s", directory,
		  strerror(-error));
	return EXIT_NOTHING;
}

/* The message of `gnomon` without arguments. */
static int lead_on(void)
{
	fputs("gnomon, a heap profiler: which code holds, leaks and churns "
	      "memory\n\n"
	      "  gnomon run ./program   record every allocation of a program\n"
	      "  gnomon report          what leaked, who held the peak, what "
	      "churned\n"
	      "  gnomon serve           the same in a browser: flame graph, "
	      "timelines, SQL\n\n"
	      "`gnomon --help` lists all commands, `gnomon run --help` the "
	      "options of a recording.\n", stderr);
	return EXIT_NOTHING;
}

/* An unknown command, and the word after it or NULL: suggests the command that
 * was probably meant. */
static int refuse_word(const char *word, const char *next,
		       const struct command *const *commands)
{
	struct nearest nearest = { .wanted = word };
	bool next_is_command = false;
	struct stat status;

	for (; *commands != NULL; commands++) {
		nearest_try(&nearest, (*commands)->name,
			    strlen((*commands)->name));
		next_is_command |= next != NULL &&
			strcmp(next, (*commands)->name) == 0;
	}
	/* as in other profilers */
	if (strcmp(word, "attach") == 0)
		log_error("attach: gnomon records only what it started: use "
			  "`gnomon run --off PROGRAM`, then `gnomon start "
			  "PID`");
	else if (strcmp(word, "record") == 0)
		log_error("record: no such command: did you mean `gnomon "
			  "run`?");
	else if (strcmp(word, "help") == 0 && next_is_command)
		log_error("%s: no such command: did you mean `gnomon %s "
			  "--help`?", word, next);
	else if (nearest.word != NULL)
		log_error("%s: no such command: did you mean `gnomon %s`?",
			  word, nearest.word);
	else if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0)
		log_error("%s: no such command: did you mean `gnomon --%s`?",
			  word, word);
	else if (stat(word, &status) == 0 && S_ISREG(status.st_mode))
		log_error("%s: no such command: did you mean `gnomon %s %s`?",
			  word, access(word, X_OK) == 0 ? "run" : "report",
			  word);
	else
		log_error("%s: no such command: `gnomon run %s` records a "
			  "program, `gnomon --help` lists commands", word,
			  word);
	return EXIT_NOTHING;
}

int main(int argc, char **argv)
{
	const struct command *const commands[COMMANDS_MAX] = {
		cmd_run_command(),
		&cmd_start,
		&cmd_stop,
		&cmd_snapshot,
		&cmd_clear,
		&cmd_report,
		&cmd_info,
		&cmd_check,
		&cmd_diff,
		&cmd_annotate,
		&cmd_strip,
		&cmd_anonymize,
		&cmd_repack,
		&cmd_extract,
		&cmd_export,
		&cmd_flamegraph,
		&cmd_graph,
		&cmd_serve,
		&cmd_sql,
		&cmd_cfi,
	};
	int operands, status, skip = 1;
	size_t count = 0;

	truncated_map_survive();
	grow_on_failure(log_out_of_memory);
	progress_show(&bar_hook);
	top.commands = commands;
	while (commands[count] != NULL)
		count++;
	if (argc == 3 && strcmp(argv[1], "--make-docs") == 0)
		return make_docs(commands, count, argv[2]);
	/* Options before the command are gnomon's own. */
	while (skip < argc && argv[skip][0] == '-')
		skip++;
	if (!command_parse(&top, skip, argv, take_none, NULL, &operands,
			   &status))
		return status;
	if (skip == argc)
		return lead_on();
	for (size_t i = 0; i < count; i++)
		if (strcmp(argv[skip], commands[i]->name) == 0)
			return commands[i]->main(commands[i], argc - skip,
						 argv + skip);
	return refuse_word(argv[skip], argv[skip + 1], commands);
}
