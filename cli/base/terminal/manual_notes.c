/*
 * manual_notes.c: tables of environment variables, files and related pages.
 * Called at build time, by the main thread.
 */
#include "cli/base/terminal/manual_notes.h"

#include <assert.h>
#include <string.h>

#define READERS "--no-debuginfod"	/* commands that look symbols up */
#define INDEXED "--no-index serve"

const struct manual_note manual_environment[] = {
	{ "run", "GNOMON_SOME_NAME",
	  "the option --some-name, as in GNOMON_SAMPLE=64k; GNOMON_OFF=1 is "
	  "--off. Options of the command line have priority." },
	{ "run", "GNOMON_RECORDER",
	  "the program that the library starts to write the trace; default: "
	  "gnomon-recorder beside libgnomon.so" },
	{ "run", "LD_PRELOAD",
	  "gnomon run puts libgnomon.so in front of its value" },
	{ "run", "QEMU_LD_PREFIX",
	  "where qemu finds the libraries of a program for another processor" },
	{ "run", "XDG_STATE_HOME, TMPDIR",
	  "if the trace's directory is not writable, the trace is written to "
	  "$XDG_STATE_HOME/gnomon (~/.local/state/gnomon), else to $TMPDIR "
	  "(/tmp), with a message" },
	{ "cfi", "GNOMON_CFI_DIR", "the directory for rule files" },
	{ READERS, "DEBUGINFOD_URLS",
	  "debuginfod servers to fetch missing debug files from, separated by "
	  "blanks" },
	{ READERS, "DEBUGINFOD_CACHE_PATH",
	  "the cache of such files (see debuginfod_find_debuginfo(3))" },
	{ INDEXED, "GNOMON_INDEX_CACHE",
	  "how much space indexes in the cache may take, as in 2G (10G)" },
	{ INDEXED " run cfi", "XDG_CACHE_HOME",
	  "the cache is $XDG_CACHE_HOME/gnomon (~/.cache/gnomon)" },
	{ "serve", "TMPDIR", "directory for downloads while they are made "
			     "(/tmp)" },
	{ "sql", "TMPDIR", "directory for an index that is made for one "
			   "session only (/tmp)" },
	{ "sql", "XDG_STATE_HOME",
	  "the history of the prompt is in $XDG_STATE_HOME/gnomon "
	  "(~/.local/state/gnomon)" },
	{ "--color", "NO_COLOR", "if set, no colours" },
	{ "--color", "CLICOLOR, CLICOLOR_FORCE",
	  "CLICOLOR=0: no colours; CLICOLOR_FORCE=1: colours also if the "
	  "result does not go to a terminal" },
	{ NULL, NULL, NULL }
};

const struct manual_note manual_files[] = {
	{ "run", "gnomon.PROGRAM.PID.trace", "the trace, without --output" },
	{ "run", "TRACE.part1, TRACE.part2, ...",
	  "older parts of a trace, with --limit" },
	{ "run", "TRACE.stats", "lines of statistics, with --stats-every" },
	{ "run", "/dev/shm/gnomon-PID-NUMBER.live",
	  "the live file: events on their way to the trace. It is removed at "
	  "the end; if program and recorder were killed, the next command that "
	  "reads the trace adds its events to the trace and removes it." },
	{ "run cfi", "~/.cache/gnomon/cfi/",
	  "unwind rules for code without unwind tables" },
	{ "start stop snapshot clear", "@gnomon.PID.STARTTIME",
	  "abstract Unix socket on which the recorder accepts requests" },
	{ INDEXED, "TRACE.idx", "the index of a trace" },
	{ INDEXED, "~/.cache/gnomon/ID.idx",
	  "the index, if the trace's directory is not writable" },
	{ READERS, "/usr/lib/debug/.build-id/", "debug files by build-id" },
	{ "sql", "~/.local/state/gnomon/sql_history",
	  "the history of the prompt" },
	{ NULL, NULL, NULL }
};

static const char *const related[][2] = {
	{ "", "gnomon-run(1) gnomon-report(1) gnomon-serve(1)" },
	{ "run", "gnomon-report(1) gnomon-serve(1) gnomon-start(1) "
		 "gnomon-cfi(1) ld.so(8)" },
	{ "start", "gnomon-run(1) gnomon-stop(1) gnomon-snapshot(1) "
		   "gnomon-clear(1)" },
	{ "stop", "gnomon-run(1) gnomon-start(1) gnomon-report(1)" },
	{ "snapshot", "gnomon-run(1) gnomon-report(1) gnomon-diff(1)" },
	{ "clear", "gnomon-run(1) gnomon-start(1) gnomon-report(1)" },
	{ "report", "gnomon-run(1) gnomon-serve(1) gnomon-annotate(1) "
		    "gnomon-diff(1) gnomon-info(1) gnomon-sql(1)" },
	{ "info", "gnomon-run(1) gnomon-report(1)" },
	{ "check", "gnomon-run(1) gnomon-report(1) gnomon-diff(1)" },
	{ "diff", "gnomon-report(1) gnomon-check(1) gnomon-flamegraph(1)" },
	{ "annotate", "gnomon-report(1) gnomon-cfi(1)" },
	{ "strip", "gnomon-run(1) gnomon-repack(1) gnomon-anonymize(1)" },
	{ "anonymize", "gnomon-repack(1) gnomon-strip(1)" },
	{ "repack", "gnomon-extract(1) gnomon-strip(1) gnomon-anonymize(1)" },
	{ "extract", "gnomon-run(1) gnomon-repack(1)" },
	{ "export", "gnomon-report(1) gnomon-flamegraph(1) gnomon-sql(1)" },
	{ "flamegraph", "gnomon-report(1) gnomon-graph(1) gnomon-diff(1) "
			"gnomon-export(1)" },
	{ "graph", "gnomon-report(1) gnomon-flamegraph(1)" },
	{ "serve", "gnomon-run(1) gnomon-report(1) gnomon-sql(1)" },
	{ "sql", "gnomon-report(1) gnomon-serve(1) sqlite3(1)" },
	{ "cfi", "gnomon-run(1) readelf(1)" },
};

static bool has_option(const struct command *command, const char *name,
		       size_t size)
{
	const struct command_option *option;
	const char *title;

	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++)
		if (strlen(option->name) == size &&
		    strncmp(option->name, name, size) == 0)
			return true;
	return false;
}

bool manual_note_is_for(const struct manual_note *note,
			const struct command *command)
{
	const char *word = note->users;
	size_t size;

	for (; *word != 0; word += size, word += *word == ' ') {
		size = strcspn(word, " ");
		if (strncmp(word, "--", 2) == 0 ?
		    has_option(command, word + 2, size - 2) :
		    strlen(command->name) == size &&
		    strncmp(command->name, word, size) == 0)
			return true;
	}
	return false;
}

const char *manual_related(const char *command)
{
	const size_t count = sizeof(related) / sizeof(related[0]);
	size_t i = 0;

	while (i < count && strcmp(related[i][0], command) != 0)
		i++;
	assert(i < count);
	return related[i][1];
}
