/*
 * program.c: starts a program as a shell does, with a preloaded library, and
 * ends with its status.
 *
 * The program stays in our process group and on our terminal; forward.c handles
 * signals.
 *
 * Called by the main thread; on_interrupt is a signal handler.
 */
#include "cli/run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/run/forward.h"
#include "cli/run/program_warn.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static siginfo_t ended;

/* ---- paths ---- */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		access(path, X_OK) == 0;
}

static char *check_program(char *path, int *status)
{
	struct stat info;
	int error;

	if (is_program(path))
		return path;
	error = stat(path, &info) != 0 ? errno :
		S_ISDIR(info.st_mode) ? EISDIR : EACCES;
	log_error("%s: cannot be run: %s", path, strerror(error));
	*status = error == ENOENT || error == ENOTDIR ? PROGRAM_NOT_FOUND :
		PROGRAM_NOT_EXECUTABLE;
	free(path);
	return NULL;
}

char *program_find(const char *name, int *status)
{
	const char *path = getenv("PATH"), *end;
	char *unusable = NULL;

	if (strchr(name, '/') != NULL)
		return check_program(grow_copy(name, strlen(name)), status);
	for (path = path ? path : DEFAULT_PATH;; path = end + 1) {
		char *candidate;

		end = strchrnul(path, ':');
		candidate = end == path ? grow_format("./%s", name) :
			grow_format("%.*s/%s", (int)(end - path), path, name);
		if (is_program(candidate)) {
			free(unusable);
			return candidate;
		}
		if (unusable == NULL && access(candidate, F_OK) == 0)
			unusable = candidate;
		else
			free(candidate);
		if (*end == 0)
			break;
	}
	if (unusable != NULL)
		return check_program(unusable, status);
	log_error("%s: not found in $PATH: give its path", name);
	*status = PROGRAM_NOT_FOUND;
	return NULL;
}

/* The path of this program; without /proc, the path that was executed. */
static bool own_path(char self[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
	const char *executed = (const char *)getauxval(AT_EXECFN);

	if (n >= 0) {
		self[n] = 0;
		return true;
	}
	return executed != NULL && realpath(executed, self) != NULL;
}

char *program_library(void)
{
	static const char *const places[] = {
		"libgnomon.so", "../lib/gnomon/libgnomon.so",
		"../lib/libgnomon.so"
	};
	char self[PATH_MAX], *slash;

	if (!own_path(self)) {
		log_error("/proc/self/exe: %s: is /proc mounted?",
			  strerror(errno));
		return NULL;
	}
	slash = strrchr(self, '/');
	*slash = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = grow_format("%s/%s", self, places[i]);
		char *real = realpath(path, NULL);

		free(path);
		if (real == NULL)
			continue;
		if (strpbrk(real, ": ") == NULL)
			return real;
		log_error("%s: LD_PRELOAD does not allow blanks or colons in "
			  "a path: install gnomon elsewhere", real);
		free(real);
		return NULL;
	}
	log_error("libgnomon.so is neither in %s nor in ../lib/gnomon: "
		  "install all of gnomon", self);
	return NULL;
}

/* ---- start ---- */

/* In the child: never returns. It waits until all other ends of `start` are
 * closed: then pending signals have been handled. */
static _Noreturn void become(const char *program, char **argv,
			     const char *preload, int start, int report)
{
	char unused;
	int error;

	if (read(start, &unused, 1) < 0)
		_exit(PROGRAM_OWN_FAILURE);
	forward_inherit();
	if (preload != NULL)
		setenv("LD_PRELOAD", preload, 1);
	execv(program, argv);
	if (errno == ENOEXEC && !program_is_elf(program)) {
		/* A script without #!: run by /bin/sh, as execvp and shells
		 * do. */
		size_t count = 0;
		char **shell;

		while (argv[count] != NULL)
			count++;
		shell = grow_zeroed(count + 2, sizeof(*shell));
		shell[0] = "/bin/sh";
		shell[1] = (char *)program;
		for (size_t i = 1; i < count; i++)
			shell[i + 1] = argv[i];
		execv(shell[0], shell);
	}
	error = errno;
	/* If the reader has gone, the exit status shows the failure. */
	if (write(report, &error, sizeof(error)) < 0)
		_exit(PROGRAM_OWN_FAILURE);
	_exit(PROGRAM_NOT_EXECUTABLE);
}

/* Waits for exec. 0: the program was started; else errno of exec. */
static int exec_error(int pipe_end)
{
	siginfo_t unused;
	int error = 0;

	forward_wait(pipe_end, &unused);
	/* exec failed and the error is written, or exec closed the other end */
	return read(pipe_end, &error, sizeof(error)) == sizeof(error) ?
		error : 0;
}

struct pipes {
	int start[2], report[2];
};

static bool make_pipes(struct pipes *pipes)
{
	if (pipe2(pipes->start, O_CLOEXEC) == 0) {
		if (pipe2(pipes->report, O_CLOEXEC) == 0)
			return true;
		close(pipes->start[0]);
		close(pipes->start[1]);
	}
	return false;
}

/* The child, or -1; *error: why fork or exec failed, or 0. */
static pid_t start_child(const char *program, char **argv,
			 const char *preload, const struct pipes *pipes,
			 int *error)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(pipes->start[1]);
		become(program, argv, preload, pipes->start[0],
		       pipes->report[1]);
	}
	*error = pid < 0 ? errno : 0;
	close(pipes->start[0]);
	close(pipes->report[1]);
	if (pid > 0)
		forward_to(pid);
	close(pipes->start[1]);
	if (pid > 0)
		*error = exec_error(pipes->report[0]);
	close(pipes->report[0]);
	return pid;
}

pid_t program_start(const char *program, char **argv, const char *library,
		   int *status)
{
	const char *old = getenv("LD_PRELOAD");
	char *preload = library == NULL ? NULL :
		old != NULL && old[0] != 0 ?
		grow_format("%s:%s", library, old) :
		grow_copy(library, strlen(library));
	struct pipes pipes;
	pid_t pid = -1;
	int error;

	*status = PROGRAM_OWN_FAILURE;
	if (!forward_begin() || !make_pipes(&pipes)) {
		log_error("pipe: %s: raise `ulimit -n`", strerror(errno));
		goto out;
	}
	pid = start_child(program, argv, preload, &pipes, &error);
	if (error == 0)
		goto out;
	log_error("%s: cannot be run: %s%s", program, strerror(error),
		  error == ENOEXEC ? ": it is damaged or for another "
		  "processor: build or copy it again for this machine" : "");
	if (pid > 0) {
		program_reap(pid);
		*status = error == ENOENT ? PROGRAM_NOT_FOUND :
			PROGRAM_NOT_EXECUTABLE;
	}
	pid = -1;
out:
	free(preload);
	return pid;
}

/* ---- end ---- */

void program_wait(siginfo_t *end)
{
	forward_wait(-1, end);
}

void program_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_interrupt(int number)
{
	(void)number;
	program_end_as(&ended);
}

void program_interruptible(const siginfo_t *end)
{
	ended = *end;
	forward_end(on_interrupt);
}

_Noreturn void program_end_as(const siginfo_t *end)
{
	static const struct rlimit none = { 0, 0 };
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t one;

	if (end->si_code == CLD_EXITED)
		_exit(end->si_status);
	/* No core dump of our own: it could replace the program's. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(end->si_status, &standard, NULL);
	sigemptyset(&one);
	sigaddset(&one, end->si_status);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), end->si_status);
	_exit(128 + end->si_status);
}
