/*
 * reporter.c: see reporter.h.
 *
 *	writer ─ clone (its memory, until exec) ─▶ gnomon report … TRACE
 *	  ▲                                          │ on standard error as it
 *	  └────────── wait, a look each round ◀──────┘ was, or into a file
 *
 * One command for each key of --sort, one after the other. The command gets
 * few variables, which were copied at the start: it must not be recorded, and
 * the program may have written over its own.
 *
 * Threads: reporter_environment() is whoever starts the recorder first; all
 * else is the writer's.
 *
 * I1: between clone and exec the task runs on a stack of its own and makes
 *     system calls only; the writer stands still meanwhile (CLONE_VFORK).
 * I2: the variables are constant after reporter_environment(), in forked
 *     children too.
 */
#include "preload/reporter.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/area.h"
#include "preload/message.h"
#include "preload/options.h"
#include "preload/proc.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "unwind/signals.h"

#define REPORTER_STACK (64u << 10)
#define REPORTER_VARIABLES 24
#define REPORTER_TEXT 4096	/* what does not fit is not given */
#define REPORTER_WORDS 12
#define REPORTER_NUMBER_MAX 24
#define REPORTER_KEY_MAX 32

static const char *const reporter_variables[] = {
	"PATH=", "HOME=", "LANG=", "LC_ALL=", "LC_CTYPE=", "LANGUAGE=",
	"TERM=", "TZ=", "TMPDIR=", "NO_COLOR=", "COLUMNS=",
	"DEBUGINFOD_URLS=", "DEBUGINFOD_CACHE_PATH=", "XDG_CACHE_HOME=",
	"XDG_STATE_HOME=", OPTIONS_COMMAND "=", NULL
};

/* I2: what the command gets, and the bytes of it. */
static char *reporter_given[REPORTER_VARIABLES + 1];
static char reporter_text[REPORTER_TEXT];

/* ---- the command ---- */

static bool reporter_may_run(const char *path)
{
	return arch_syscall3(__NR_faccessat, AT_FDCWD, (long)path, 1) == 0;
}

/* A path of a folder and what is below it. */
static bool reporter_try(struct reporter *reporter, const char *folder,
			 size_t n, const char *name)
{
	struct text text;

	text_init(&text, reporter->command, sizeof(reporter->command));
	text_bytes(&text, folder, n);
	text_put(&text, name);
	if (!text.full && reporter_may_run(reporter->command))
		return true;
	reporter->command[0] = '\0';
	return false;
}

static const char *reporter_variable(const char *name)
{
	size_t length = strlen(name);
	unsigned i;

	for (i = 0; reporter_given[i]; i++)
		if (strncmp(reporter_given[i], name, length) == 0)
			return reporter_given[i] + length;
	return "";
}

static void reporter_search(struct reporter *reporter)
{
	const char *at = reporter_variable("PATH=");

	while (*at) {
		size_t n = 0;

		while (at[n] && at[n] != ':')
			n++;
		if (n && reporter_try(reporter, at, n, "/gnomon"))
			return;
		at += n + (at[n] == ':');
	}
}

/* As the variable says, or as it is installed or built beside the library, or
 * as a shell would find it. */
static void reporter_find(struct reporter *reporter)
{
	static const char *const beside[] = {
		"gnomon", "../bin/gnomon", "../../bin/gnomon",
		"../../../bin/gnomon"
	};
	const char *named = reporter_variable(OPTIONS_COMMAND "=");
	const char *library = real_own_map()->l_name;
	size_t n = library ? strlen(library) : 0;
	unsigned i;

	if (*named && reporter_try(reporter, named, strlen(named), ""))
		return;
	while (n && library[n - 1] != '/')
		n--;
	for (i = 0; n && i < sizeof(beside) / sizeof(*beside); i++)
		if (reporter_try(reporter, library, n, beside[i]))
			return;
	reporter_search(reporter);
}

/* ---- at the start ---- */

static bool reporter_wants(const char *entry)
{
	unsigned i;

	for (i = 0; reporter_variables[i]; i++)
		if (strncmp(entry, reporter_variables[i],
			    strlen(reporter_variables[i])) == 0)
			return true;
	return false;
}

void reporter_environment(char *const *environment)
{
	size_t room = sizeof(reporter_text);
	char *to = reporter_text;
	unsigned count = 0;

	for (; *environment && count < REPORTER_VARIABLES; environment++) {
		size_t n = strlen(*environment) + 1;

		if (n > room || !reporter_wants(*environment))
			continue;
		memcpy(to, *environment, n);
		reporter_given[count++] = to;
		to += n;
		room -= n;
	}
}

void reporter_begin(struct reporter *reporter, const char *trace)
{
	reporter->wanted = recorder_options.given[OPTION_REPORT];
	reporter->trace = trace;
}

/* ---- one of them ---- */

/* The key of the section that is `left` from the end; "": the usual tables. */
static void reporter_key(unsigned left, char key[REPORTER_KEY_MAX])
{
	const char *at = options_text(&recorder_options, OPTION_SORT);
	unsigned count = 1;
	const char *p;
	struct text text;

	for (p = at; *p; p++)
		count += *p == ',';
	for (; count > left; at++)
		count -= *at == ',';
	text_init(&text, key, REPORTER_KEY_MAX);
	while (*at && *at != ',')
		text_char(&text, *at++);
}

static unsigned reporter_sections(void)
{
	const char *at = options_text(&recorder_options, OPTION_SORT);
	unsigned count = 1;

	if (recorder_options.number[OPTION_FLAMEGRAPH])
		return 1;
	for (; *at; at++)
		count += *at == ',';
	return count;
}

/* What a command is started with. */
struct reporter_start {
	char *argv[REPORTER_WORDS];
	char *const *envp;
	const char *command;
	int output;
	int null;
};

/* I1 */
static void reporter_child(void *arg)
{
	const struct reporter_start *start = arg;

	arch_syscall3(__NR_dup3, start->null, 0, 0);
	arch_syscall3(__NR_dup3, start->output, 1, 0);
	arch_syscall3(__NR_dup3, start->output, 2, 0);
	arch_syscall3(__NR_close_range, 3, ~0u, 0);
	signals_mask(SIGNALS_NONE, NULL);
	arch_syscall3(__NR_execve, (long)start->command, (long)start->argv,
		      (long)start->envp);
	for (;;)
		arch_syscall1(__NR_exit, 127);
}

static void reporter_words(const struct reporter *reporter, char **argv,
			   char *key, char *number)
{
	uint64_t top = recorder_options.number[OPTION_TOP];
	unsigned n = 0;
	struct text text;

	argv[n++] = (char *)"gnomon";
	if (recorder_options.number[OPTION_FLAMEGRAPH]) {
		argv[n++] = (char *)"export";
		argv[n++] = (char *)"--format=collapsed";
		argv[n++] = (char *)"--cost=live";
	} else {
		argv[n++] = (char *)"report";
		/* what would help to read it is not for a program's output */
		argv[n++] = (char *)"--quiet";
		/* a file that is empty would not say why */
		if (!*options_text(&recorder_options, OPTION_REPORT))
			argv[n++] = (char *)"--skip-empty";
		reporter_key(reporter->left, key);
		if (*key) {
			argv[n++] = (char *)"--sort";
			argv[n++] = key;
		}
		if (recorder_options.given[OPTION_TOP]) {
			text_init(&text, number, REPORTER_NUMBER_MAX);
			text_number(&text, top);
			argv[n++] = (char *)"--top";
			argv[n++] = number;
		}
	}
	argv[n++] = (char *)"--";
	argv[n++] = (char *)reporter->trace;
	argv[n] = NULL;
}

/* A copy that is none of the three that the command gets. */
static long reporter_above(int fd)
{
	return arch_syscall3(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 3);
}

static long reporter_start(struct reporter *reporter, int output)
{
	char key[REPORTER_KEY_MAX], number[REPORTER_NUMBER_MAX];
	struct reporter_start start = {
		.envp = reporter_given,
		.command = reporter->command,
	};
	long null = sys_open("/dev/null", O_RDWR | O_CLOEXEC, 0), pid;

	start.null = reporter_above(null);
	start.output = reporter_above(output);
	sys_close(null);
	reporter_words(reporter, start.argv, key, number);
	pid = arch_clone_task(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED,
			      reporter->stack + REPORTER_STACK, NULL,
			      reporter_child, &start);
	sys_close(start.output);
	sys_close(start.null);
	return pid;
}

/* Where it is to go. */
static long reporter_open(const struct reporter *reporter, int tid)
{
	const char *file = options_text(&recorder_options, OPTION_REPORT);
	char path[64];
	struct text text;

	if (*file)
		return sys_open(file, O_WRONLY | O_CREAT | O_APPEND |
					      O_CLOEXEC | O_NOCTTY, 0600);
	if (reporter->error >= 0)
		return reporter_above(reporter->error);
	text_init(&text, path, sizeof(path));
	text_put(&text, "/proc/");
	text_number(&text, tid);
	text_put(&text, "/fd/2");
	return proc_is_ours() ? sys_open(path, O_WRONLY | O_APPEND |
					 O_NOCTTY | O_CLOEXEC, 0) : -ENOENT;
}

static int reporter_prepare(struct reporter *reporter, const char **why)
{
	if (!reporter->command[0])
		reporter_find(reporter);
	if (!reporter->command[0]) {
		*why = "the command gnomon, which would make the report, is "
		       "not to be found: name it by " OPTIONS_COMMAND;
		return -ENOENT;
	}
	if (!reporter->stack)
		reporter->stack = area_alloc(REPORTER_STACK);
	if (!reporter->stack) {
		*why = "no memory for a report";
		return -ENOMEM;
	}
	return 0;
}

static int reporter_one(struct reporter *reporter, int tid, const char **why)
{
	long output = reporter_open(reporter, tid), pid;

	if (sys_failed(output)) {
		*why = "the report's file cannot be opened";
		return output;
	}
	pid = reporter_start(reporter, output);
	sys_close(output);
	if (sys_failed(pid)) {
		*why = "the report's command cannot be started";
		return pid;
	}
	reporter->pid = pid;
	return 0;
}

int reporter_ask(struct reporter *reporter, int tid, const char **why)
{
	int err = reporter_prepare(reporter, why);

	if (err)
		return err;
	if (reporter->pid) {
		*why = "a report is being printed";
		return -EBUSY;
	}
	reporter->left = reporter_sections();
	return reporter_one(reporter, tid, why);
}

/* Whether the command has ended; `how`: WNOHANG or 0. */
static bool reporter_ended(struct reporter *reporter, int how)
{
	long pid;

	do
		pid = arch_syscall4(__NR_wait4, reporter->pid, 0, __WALL | how,
				    0);
	while (pid == -EINTR);
	if (pid == 0)
		return false;
	reporter->pid = 0;
	reporter->left--;
	return true;
}

void reporter_step(struct reporter *reporter)
{
	const char *why;

	if (likely(!reporter->pid) || !reporter_ended(reporter, WNOHANG))
		return;
	if (reporter->left)
		reporter_one(reporter, recorder->pid, &why);
}

void reporter_finish(struct reporter *reporter)
{
	const char *why = NULL;

	while (reporter->pid) {
		reporter_ended(reporter, 0);
		if (reporter->left)
			reporter_one(reporter, recorder->pid, &why);
	}
	if (!reporter->wanted)
		return;
	if (reporter_ask(reporter, recorder->pid, &why) && why)
		message_say_at(reporter->error, why);
	while (reporter->pid) {
		reporter_ended(reporter, 0);
		if (reporter->left)
			reporter_one(reporter, recorder->pid, &why);
	}
}
