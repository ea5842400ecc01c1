/*
 * reporter.c: see reporter.h.
 *
 *	recorder ─ posix_spawn ─▶ gnomon report … TRACE
 *	  ▲                         │ on standard error as it was, or into a
 *	  └──── wait, a look ◀──────┘ file
 *	        each round
 *
 * There is one command for each key of --sort, one after the other. It gets the
 * recorder's environment.
 */
#include "cli/recorder/output/reporter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recorder/base/message_out.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/result.h"
#include "preload/base/options.h"
#include "cli/recorder/base/recording.h"
#include "unwind/base/assertion.h"

#define REPORTER_WORDS 12
#define REPORTER_NUMBER_MAX 24
#define REPORTER_KEY_MAX 32

/* ---- the command ---- */

static bool reporter_may_run(const char *path)
{
	return access(path, X_OK) == 0;
}

/* Tries the path made of a directory and a name. */
static bool reporter_try(struct reporter *reporter, const char *folder,
			 size_t n, const char *name)
{
	if (pathname_print(reporter->command, sizeof(reporter->command),
			   "%.*s%s", (int)n, folder, name) &&
	    reporter_may_run(reporter->command))
		return true;
	reporter->command[0] = '\0';
	return false;
}

static void reporter_search(struct reporter *reporter)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (n && reporter_try(reporter, at, n, "/gnomon"))
			return;
		at += n + (at[n] == ':');
	}
}

/* Finds the command: by the environment variable, beside the recorder as
 * installed or built, or in PATH. */
static void reporter_find(struct reporter *reporter)
{
	static const char *const beside[] = {
		"gnomon", "../bin/gnomon", "../../bin/gnomon",
		"../../../bin/gnomon"
	};
	const char *named = getenv(OPTIONS_COMMAND);
	char self[GT_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	unsigned i;

	if (named && *named && reporter_try(reporter, named, strlen(named), ""))
		return;
	while (n > 0 && self[n - 1] != '/')
		n--;
	for (i = 0; n > 0 && i < sizeof(beside) / sizeof(*beside); i++)
		if (reporter_try(reporter, self, n, beside[i]))
			return;
	reporter_search(reporter);
}

void reporter_begin(struct reporter *reporter, const struct recording *r,
		    const char *trace)
{
	reporter->r = r;
	reporter->wanted = recording_options->given[OPTION_REPORT];
	reporter->trace = trace;
}

/* ---- one report ---- */

/* The sort key of the section that is `left` from the end; "": the default
 * tables. */
static void reporter_key(unsigned left, char key[REPORTER_KEY_MAX])
{
	const char *at = options_text(recording_options, OPTION_SORT);
	unsigned count = 1;
	const char *p;

	DEBUG_ASSERT(left > 0);
	for (p = at; *p; p++)
		count += *p == ',';
	for (; count > left; at++)
		count -= *at == ',';
	snprintf(key, REPORTER_KEY_MAX, "%.*s", (int)strcspn(at, ","), at);
}

static unsigned reporter_sections(void)
{
	const char *at = options_text(recording_options, OPTION_SORT);
	unsigned count = 1;

	if (recording_options->number[OPTION_FLAMEGRAPH])
		return 1;
	for (; *at; at++)
		count += *at == ',';
	return count;
}

static void reporter_words(const struct reporter *reporter, char **argv,
			   char *key, char *number)
{
	uint64_t top = recording_options->number[OPTION_TOP];
	unsigned n = 0;

	argv[n++] = (char *)"gnomon";
	if (recording_options->number[OPTION_FLAMEGRAPH]) {
		argv[n++] = (char *)"export";
		argv[n++] = (char *)"--format=collapsed";
		argv[n++] = (char *)"--cost=live";
	} else {
		argv[n++] = (char *)"report";
		/* hints for the reader do not belong in a program's output */
		argv[n++] = (char *)"--quiet";
		/* but an empty file would not explain itself */
		if (!*options_text(recording_options, OPTION_REPORT))
			argv[n++] = (char *)"--skip-empty";
		reporter_key(reporter->left, key);
		if (*key) {
			argv[n++] = (char *)"--sort";
			argv[n++] = key;
		}
		if (recording_options->given[OPTION_TOP]) {
			snprintf(number, REPORTER_NUMBER_MAX, "%" PRIu64, top);
			argv[n++] = (char *)"--top";
			argv[n++] = number;
		}
	}
	argv[n++] = (char *)"--";
	argv[n++] = (char *)reporter->trace;
	assert(n < REPORTER_WORDS);
	argv[n] = NULL;
}

/* A copy with a descriptor above the standard three, which the command gets. */
static int reporter_above(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* The command gets an empty signal mask. */
static void reporter_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none;

	sigemptyset(&none);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

#ifdef __GLIBC_PREREQ
#define REPORTER_CLOSE_FROM __GLIBC_PREREQ(2, 34)
#else
#define REPORTER_CLOSE_FROM 0
#endif

/* The command gets no descriptor but the first three. */
static void reporter_close_others(posix_spawn_file_actions_t *files)
{
#if REPORTER_CLOSE_FROM
	posix_spawn_file_actions_addclosefrom_np(files, 3);
#else
	int max = (int)sysconf(_SC_OPEN_MAX);

	(void)files;
	for (int fd = 3; fd < max; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
}

static long reporter_start(struct reporter *reporter, int output)
{
	char key[REPORTER_KEY_MAX], number[REPORTER_NUMBER_MAX];
	char *argv[REPORTER_WORDS];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid = 0;
	int above = reporter_above(output), err;

	assert(reporter->command[0] && reporter->left > 0);
	reporter_words(reporter, argv, key, number);
	reporter_attributes(&attributes);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, above, 1);
	posix_spawn_file_actions_adddup2(&files, above, 2);
	reporter_close_others(&files);
	err = posix_spawn(&pid, reporter->command, &files, &attributes, argv,
			  environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	close(above);
	return err ? -err : pid;
}

/* Opens the report's output. */
static long reporter_open(const struct reporter *reporter, int tid)
{
	const char *file = options_text(recording_options, OPTION_REPORT);
	char path[64];

	if (*file)
		return result_of(open(file, O_WRONLY | O_CREAT | O_APPEND |
				      O_CLOEXEC | O_NOCTTY, 0600));
	if (reporter->error >= 0)
		return reporter_above(reporter->error);
	snprintf(path, sizeof(path), "/proc/%d/fd/2", tid);
	if (!proc_file_is_ours())
		return -ENOENT;
	return result_of(open(path, O_WRONLY | O_APPEND | O_NOCTTY |
					    O_CLOEXEC));
}

static int reporter_prepare(struct reporter *reporter, const char **why)
{
	if (!reporter->command[0])
		reporter_find(reporter);
	if (!reporter->command[0]) {
		*why = "the command gnomon, which makes the report, was not "
		       "found: set " OPTIONS_COMMAND;
		return -ENOENT;
	}
	return 0;
}

static int reporter_one(struct reporter *reporter, int tid, const char **why)
{
	long output = reporter_open(reporter, tid), pid;

	if (output < 0) {
		*why = "cannot open the report's file";
		return output;
	}
	assert(reporter->pid == 0);
	pid = reporter_start(reporter, output);
	close(output);
	if (pid < 0) {
		*why = "cannot start `gnomon report`";
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
		*why = "another report is being printed: try again";
		return -EBUSY;
	}
	reporter->left = reporter_sections();
	return reporter_one(reporter, tid, why);
}

/* Whether the command has ended; `how`: WNOHANG or 0. */
static bool reporter_ended(struct reporter *reporter, int how)
{
	pid_t pid;

	assert(reporter->pid > 0);
	do
		pid = waitpid(reporter->pid, NULL, how);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	reporter->pid = 0;
	assert(reporter->left > 0);
	reporter->left--;
	return true;
}

void reporter_step(struct reporter *reporter)
{
	const char *why;

	if (likely(!reporter->pid) || !reporter_ended(reporter, WNOHANG))
		return;
	if (reporter->left)
		reporter_one(reporter, reporter->r->pid, &why);
}

void reporter_finish(struct reporter *reporter)
{
	const char *why = NULL;

	while (reporter->pid) {
		reporter_ended(reporter, 0);
		if (reporter->left)
			reporter_one(reporter, reporter->r->pid, &why);
	}
	if (!reporter->wanted)
		return;
	if (reporter_ask(reporter, reporter->r->pid, &why) && why)
		message_out_at(reporter->error, why);
	while (reporter->pid) {
		reporter_ended(reporter, 0);
		if (reporter->left)
			reporter_one(reporter, reporter->r->pid, &why);
	}
}
