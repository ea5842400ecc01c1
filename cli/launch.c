/*
 * launch.c: what a shell does to start a program and to tell how it ended,
 * with a library in front of it.
 *
 * The program stays in our process group and on our terminal. So Ctrl-C and
 * Ctrl-\ reach it from the terminal and we ignore them; a signal that
 * somebody sends to us by pid would not reach it and is passed on.
 *
 * Called by the main thread; on_forward and on_interrupt are signal handlers.
 */
#include "cli/launch.h"

#include <elf.h>
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
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/tell.h"

#define SIGNALS_MAX 32		/* that are passed on, beside the usual ones */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static volatile sig_atomic_t child;
static siginfo_t ended;
static int passed_on[SIGNALS_MAX], passed_count;

/* ---- where things are ---- */

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
	tell_error("%s: cannot be run: %s", path, strerror(error));
	*status = error == ENOENT || error == ENOTDIR ? LAUNCH_NOT_FOUND :
		LAUNCH_NOT_EXECUTABLE;
	free(path);
	return NULL;
}

char *launch_find_program(const char *name, int *status)
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
	tell_error("%s: not found in $PATH: give its path", name);
	*status = LAUNCH_NOT_FOUND;
	return NULL;
}

/* Without /proc, as which this program was executed. */
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

char *launch_find_library(void)
{
	static const char *const places[] = {
		"libgnomon.so", "../lib/gnomon/libgnomon.so",
		"../lib/libgnomon.so"
	};
	char self[PATH_MAX], *slash;

	if (!own_path(self)) {
		tell_error("/proc/self/exe: %s: is /proc mounted?",
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
		tell_error("%s: LD_PRELOAD cannot hold a path with blanks or "
			   "colons: install gnomon elsewhere", real);
		free(real);
		return NULL;
	}
	tell_error("libgnomon.so is neither in %s nor in ../lib/gnomon: "
		   "install gnomon completely", self);
	return NULL;
}

/* ---- warnings ---- */

/* Bytes 0 … size-1; fewer at the end. */
static ssize_t read_start(const char *path, void *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, bytes, size, 0);
	close(fd);
	return n;
}

static bool has_interpreter(const char *path, const Elf64_Ehdr *header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;

	for (unsigned i = 0; fd >= 0 && i < header->e_phnum; i++) {
		Elf64_Phdr program;

		if (pread(fd, &program, sizeof(program),
			  (off_t)(header->e_phoff +
				  (uint64_t)i * header->e_phentsize)) !=
		    (ssize_t)sizeof(program))
			break;
		if (program.p_type == PT_INTERP)
			found = true;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* It starts with other rights than ours, which root's may be too. The system
 * then ignores LD_PRELOAD. */
static bool changes_rights(const char *program)
{
	struct stat status;
	struct statvfs space;
	char magic[SELFMAG];

	if (stat(program, &status) != 0 || statvfs(program, &space) != 0 ||
	    (space.f_flag & ST_NOSUID) != 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0)
		return false;
	/* of a script these bits mean nothing */
	if (read_start(program, magic, SELFMAG) == SELFMAG &&
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
		((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
		 status.st_gid != getgid());
}

static void warn_of_file(const char *program, const char *library)
{
	Elf64_Ehdr header, own;

	if (read_start(program, &header, sizeof(header)) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    read_start(library, &own, sizeof(own)) != sizeof(own))
		return;
	if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
	    header.e_ident[EI_DATA] != own.e_ident[EI_DATA] ||
	    header.e_machine != own.e_machine)
		tell_note("%s: is for another kind of processor than %s, so "
			  "nothing will be recorded: use a gnomon built for "
			  "it", program, library);
	else if (own.e_ident[EI_CLASS] == ELFCLASS64 &&
		 !has_interpreter(program, &header))
		tell_note("%s: is statically linked, so no library can be put "
			  "in front of it and nothing will be recorded: link "
			  "it dynamically", program);
}

bool launch_warn(const char *program, const char *library)
{
	if (changes_rights(program)) {
		tell_note("%s: is set-user-ID or set-group-ID, so the system "
			  "ignores LD_PRELOAD and nothing will be recorded: "
			  "run it as its owner", program);
		return false;
	}
	warn_of_file(program, library);
	return true;
}

/* ---- start ---- */

static void on_forward(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/* What the kernel sends (a hang-up) went to the whole group. */
	if (info->si_code <= 0 && child > 0)
		kill((pid_t)child, number);
	errno = saved;
}

struct dispositions {
	struct sigaction interrupt, quit, terminate, hang_up;
	struct sigaction passed[SIGNALS_MAX];
	sigset_t mask;
};

void launch_pass_on(const int *signals, int count)
{
	passed_count = 0;
	for (int i = 0; i < count && passed_count < SIGNALS_MAX; i++)
		/* those of the keyboard reach it anyway; see take_signals */
		if (signals[i] != SIGINT && signals[i] != SIGQUIT &&
		    signals[i] != SIGTERM && signals[i] != SIGHUP)
			passed_on[passed_count++] = signals[i];
}

static void take_signals(struct dispositions *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction forward = { .sa_sigaction = on_forward,
				     .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGHUP);
	for (int i = 0; i < passed_count; i++)
		sigaddset(&both, passed_on[i]);
	/* Blocked until the child's pid is known. */
	sigprocmask(SIG_BLOCK, &both, &before->mask);
	sigaction(SIGINT, &ignore, &before->interrupt);
	sigaction(SIGQUIT, &ignore, &before->quit);
	sigaction(SIGTERM, &forward, &before->terminate);
	sigaction(SIGHUP, &forward, &before->hang_up);
	for (int i = 0; i < passed_count; i++)
		sigaction(passed_on[i], &forward, &before->passed[i]);
	/* Under nohup the program shall not hear of it either. */
	if (before->hang_up.sa_handler == SIG_IGN)
		sigaction(SIGHUP, &before->hang_up, NULL);
}

static void give_signals_back(const struct dispositions *before)
{
	sigaction(SIGINT, &before->interrupt, NULL);
	sigaction(SIGQUIT, &before->quit, NULL);
	sigaction(SIGTERM, &before->terminate, NULL);
	sigaction(SIGHUP, &before->hang_up, NULL);
	/* of one that is there twice, the first knows */
	for (int i = passed_count; i-- > 0;)
		sigaction(passed_on[i], &before->passed[i], NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child: never returns. */
static _Noreturn void become(const char *program, char **argv,
			     const char *preload, int report)
{
	int error;

	if (preload != NULL)
		setenv("LD_PRELOAD", preload, 1);
	execv(program, argv);
	if (errno == ENOEXEC) {
		/* A script without #!: as execvp and shells do. */
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
	/* If nobody reads it any more, our status tells. */
	if (write(report, &error, sizeof(error)) < 0)
		_exit(LAUNCH_OWN_FAILURE);
	_exit(LAUNCH_NOT_EXECUTABLE);
}

/* 0 if the program was started, else why exec failed. */
static int exec_error(int pipe_end)
{
	int error = 0;
	ssize_t n;

	do
		n = read(pipe_end, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

pid_t launch_start(const char *program, char **argv, const char *library,
		   int *status)
{
	const char *old = getenv("LD_PRELOAD");
	char *preload = library == NULL ? NULL :
		old != NULL && old[0] != 0 ?
		grow_format("%s:%s", library, old) :
		grow_copy(library, strlen(library));
	struct dispositions before;
	int ends[2], error;
	pid_t pid;

	*status = LAUNCH_OWN_FAILURE;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		tell_error("pipe: %s: raise `ulimit -n`", strerror(errno));
		free(preload);
		return -1;
	}
	take_signals(&before);
	pid = fork();
	if (pid == 0) {
		give_signals_back(&before);
		become(program, argv, preload, ends[1]);
	}
	error = pid < 0 ? errno : 0;
	child = pid;
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	close(ends[1]);
	free(preload);
	if (pid > 0)
		error = exec_error(ends[0]);
	close(ends[0]);
	if (error == 0)
		return pid;
	tell_error("%s: cannot be run: %s", program, strerror(error));
	if (pid > 0) {
		launch_reap(pid);
		*status = error == ENOENT ? LAUNCH_NOT_FOUND :
			LAUNCH_NOT_EXECUTABLE;
	}
	return -1;
}

/* ---- end ---- */

void launch_wait(pid_t pid, siginfo_t *end)
{
	memset(end, 0, sizeof(*end));
	while (waitid(P_PID, (id_t)pid, end, WEXITED | WNOWAIT) != 0 &&
	       errno == EINTR)
		;
	child = 0;
}

void launch_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_interrupt(int number)
{
	(void)number;
	launch_end_as(&ended);
}

void launch_interruptible(const siginfo_t *end)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	ended = *end;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

_Noreturn void launch_end_as(const siginfo_t *end)
{
	static const struct rlimit none = { 0, 0 };
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t one;

	if (end->si_code == CLD_EXITED)
		_exit(end->si_status);
	/* Where the program's core is, ours would only be in the way. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(end->si_status, &standard, NULL);
	sigemptyset(&one);
	sigaddset(&one, end->si_status);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), end->si_status);
	_exit(128 + end->si_status);
}
