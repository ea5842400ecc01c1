/*
 * launch_words.c: see launch.h and launch_job.h: arguments of the recorder's
 * execve: its path, its arguments, and a copy of the environment.
 */
#include "preload/start/launch_job.h"

#include <string.h>

#include "preload/base/variant.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/process/parent.h"
#include "preload/ring/initial_stack.h"
#include "preload/start/launch.h"

#define LAUNCH_VARIABLES 128
#define LAUNCH_TEXT (24u << 10)
#define LAUNCH_NAME "gnomon-recorder"
#define LAUNCH_VARIABLE "GNOMON_RECORDER="

/* Prefixes of the variables that the recorder gets. Other variables might make
 * a profiler record the recorder. A copy, as the program may overwrite its own
 * environment. */
static const char *const launch_variables[] = {
	"GNOMON_", "PATH=", "HOME=", "LANG=", "LC_ALL=", "LC_CTYPE=",
	"LANGUAGE=", "TERM=", "TZ=", "TMPDIR=", "NO_COLOR=", "COLUMNS=",
	"DEBUGINFOD_URLS=", "DEBUGINFOD_CACHE_PATH=", "XDG_CACHE_HOME=",
	"XDG_STATE_HOME=", "QEMU_LD_PREFIX=", NULL
};

/* I2: constant after launch_environment, also in forked children. */
static char *launch_envp[LAUNCH_VARIABLES + 1];
static char launch_text[LAUNCH_TEXT];
char launch_program[GT_PATH_MAX];

static bool launch_words_want(const char *entry)
{
	unsigned i;

	for (i = 0; launch_variables[i]; i++)
		if (strncmp(entry, launch_variables[i],
			    strlen(launch_variables[i])) == 0)
			return true;
	return false;
}

/* Makes the path absolute: a forked child may start its recorder in another
 * directory. */
static void launch_words_find(const char *named, const char *library)
{
	const char *from = named && *named ? named : library;
	size_t n = library ? strlen(library) : 0;
	struct text text;
	long here = 0;

	if (from && *from != '/')
		here = arch_syscall2(__NR_getcwd, (long)launch_program,
				     sizeof(launch_program) - 1);
	if (sys_failed(here))
		here = 0;
	if (here)	/* including the final 0 */
		launch_program[here - 1] = '/';
	text_init(&text, launch_program + here, sizeof(launch_program) - here);
	if (named && *named) {
		text_put(&text, named);
		return;
	}
	text_bytes(&text, library, text_base_name(library, n) - library);
	text_put(&text, LAUNCH_NAME);
}

void launch_environment(char *const *environment, const char *library)
{
	static char off[] = "GNOMON_OFF=1";
	const size_t name = sizeof(LAUNCH_VARIABLE) - 1;
	size_t room = sizeof(launch_text), n;
	const char *named = NULL;
	char *to = launch_text;
	unsigned count = 0;

	if (variant_off)
		launch_envp[count++] = off;	/* later variables have
						 * priority */
	for (; environment && *environment && count < LAUNCH_VARIABLES;
	     environment++) {
		n = strlen(*environment) + 1;
		if (strncmp(*environment, LAUNCH_VARIABLE, name) == 0)
			named = *environment + name;
		if (n > room || !launch_words_want(*environment))
			continue;
		memcpy(to, *environment, n);
		launch_envp[count++] = to;
		to += n;
		room -= n;
	}
	launch_words_find(named, library);
}

long launch_words_execute(const struct launch *launch)
{
	return arch_syscall3(__NR_execve, (long)launch_program,
			     (long)launch->argv, (long)launch_envp);
}

void launch_words_make(struct launch *launch)
{
	const int numbers[LAUNCH_NUMBERS] = {
		launch->where.pid, launch->made.fd, launch->made.memory_id,
		(launch->p->forked ? GL_FLAG_FORKED : 0) |
			(launch->quiet ? GL_FLAG_QUIET : 0),
	};
	struct text text;
	unsigned i, n = 0;

	launch->argv[n++] = launch_program;
	for (i = 0; i < LAUNCH_NUMBERS; i++) {
		text_init(&text, launch->number[i],
			  sizeof(launch->number[i]));
		if (numbers[i] < 0)
			text_char(&text, '-');
		else
			text_number(&text, numbers[i]);
		launch->argv[n++] = launch->number[i];
	}
	launch->argv[n++] = launch->made.path;
	/* `parent` is soon overwritten */
	memcpy(launch->parent_trace, parent.trace, sizeof(parent.trace));
	launch->argv[n++] = launch->parent_trace;
	launch->argv[n++] = (char *)(initial.executed ? initial.executed : "");
	launch->argv[n] = NULL;
}
