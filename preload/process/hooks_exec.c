/*
 * hooks_exec.c: hooks of functions that start a program, or replace this one
 * (exec). The new program gets our variables if the recording follows it
 * (environment.h) and it is for this processor; everything else is left to the
 * real function.
 *
 * Called from anywhere, also in signal handlers and in children that share
 * their parent's memory and stack (vfork): only the stack is written, or, for
 * an environment too large for it, a mapping, which is unmapped if the call
 * fails.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/identity.h"
#include "preload/process/process_end.h"
#include "preload/process/environment.h"
#include "preload/process/exec_file.h"
#include "preload/ring/producer.h"

#define EXEC_STACK_MAX (32u << 10)	/* of a caller's stack */

typedef char *const exec_strings[];

extern char **__environ __attribute__((weak));

/* One call of exec. All arguments of the real functions are words. */
struct exec {
	void *real;
	bool replaces;		/* not posix_spawn */
	unsigned envp;		/* index of the argument envp */
	int from;		/* the program, as execveat's arguments */
	const char *path;
	bool looked_for;	/* the path is searched in $PATH */
	long argument[6];
};

static char *const *exec_environment(const struct exec *exec)
{
	return (char *const *)exec->argument[exec->envp];
}

static bool exec_is_foreign(const struct exec *exec)
{
	if (!exec->looked_for)
		return exec_file_foreign(exec->from, exec->path);
	return exec_file_foreign_in(environment_value(__environ, "PATH="),
				    exec->path);
}

static int exec_call(struct exec *exec, char *const *envp)
{
	long (*real_exec)(long, long, long, long, long, long) =
		(long (*)(long, long, long, long, long, long))exec->real;
	const long *argument = exec->argument;

	exec->argument[exec->envp] = (long)envp;
	return real_exec(argument[0], argument[1], argument[2], argument[3],
			 argument[4], argument[5]);
}

static int exec_on_map(struct exec *exec, size_t bytes, bool foreign)
{
	char *const *envp = exec_environment(exec);
	void *room = sys_map_pages(bytes);
	int result;

	if (!room)
		return exec_call(exec, envp);
	result = exec_call(exec, environment_make(envp, room, bytes, foreign));
	sys_munmap(room, bytes);
	return result;
}

static int exec_with(struct exec *exec)
{
	char *const *envp = exec_environment(exec);
	size_t bytes;
	bool foreign;

	if (!exec->real)
		return identity_missing();
	bytes = environment_room(envp);
	if (!bytes)
		return exec_call(exec, envp);
	foreign = exec_is_foreign(exec);
	if (bytes > EXEC_STACK_MAX)
		return exec_on_map(exec, bytes, foreign);
	return exec_call(exec, environment_make(envp, alloca(bytes), bytes,
						foreign));
}

/* Whether the call replaces this process: a child that shares our memory
 * (vfork) is another one. */
static bool exec_replaces(const struct exec *exec)
{
	return exec->replaces && producer_is_on(producer) &&
	       unwind_may(UNWIND_NO_IDS) && sys_getpid() == producer->pid;
}

/* Pairs with the recorder's acquire, when it finds the process ended. */
static int exec_run(struct exec *exec)
{
	struct gl_shared *shared = exec_replaces(exec) ? producer->shared :
							 NULL;
	uint32_t scan = 0;
	int result;

	if (shared) {
		/* its trace must have its name before the next program's
		 * trace */
		recorder_wait_open();
		atomic_fetch_add_explicit(&shared->execs, 1,
					  memory_order_release);
		scan = process_end_exec();
	}
	result = exec_with(exec);
	if (shared) {
		process_end_failed(scan);
		atomic_fetch_sub_explicit(&shared->execs, 1,
					  memory_order_release);
	}
	return result;
}

static int exec_path(enum real_slot which, const char *path,
		     char *const *argv, char *const *envp)
{
	struct exec exec = {
		.real = real_of(which), .replaces = true, .envp = 2,
		.from = AT_FDCWD, .path = path,
		.looked_for = which == REAL_execvpe,
		.argument = { (long)path, (long)argv, (long)envp },
	};

	return exec_run(&exec);
}

HOOK int execve(const char *path, exec_strings argv, exec_strings envp)
{
	return exec_path(REAL_execve, path, argv, envp);
}

HOOK int execv(const char *path, exec_strings argv)
{
	return exec_path(REAL_execve, path, argv, __environ);
}

HOOK int execvpe(const char *file, exec_strings argv, exec_strings envp)
{
	return exec_path(REAL_execvpe, file, argv, envp);
}

HOOK int execvp(const char *file, exec_strings argv)
{
	return exec_path(REAL_execvpe, file, argv, __environ);
}

HOOK int fexecve(int fd, exec_strings argv, exec_strings envp)
{
	struct exec exec = {
		.real = real_of(REAL_fexecve), .replaces = true, .envp = 2,
		.from = fd, .path = "",
		.argument = { fd, (long)argv, (long)envp },
	};

	return exec_run(&exec);
}

/* By the system call: the C library's function, if there is one, does nothing
 * else. */
HOOK int execveat(int fd, const char *path, exec_strings argv,
		  exec_strings envp, int flags)
{
	struct exec exec = {
		.real = real_of(REAL_syscall), .replaces = true, .envp = 4,
		.from = fd, .path = path,
		.argument = { __NR_execveat, fd, (long)path, (long)argv,
			      (long)envp, flags },
	};

	return exec_run(&exec);
}

/* ---- variadic functions ---- */

/* Number of arguments including the first, without the NULL that ends them. */
static size_t exec_count(va_list list)
{
	size_t n = 1;

	while (va_arg(list, const char *))
		n++;
	return n;
}

static void exec_gather(const char **argv, const char *first, size_t n,
			va_list list)
{
	size_t i;

	argv[0] = first;
	for (i = 1; i < n; i++)
		argv[i] = va_arg(list, const char *);
	argv[n] = NULL;
}

/* An array of the arguments from `first` on, on the stack of the caller. */
#define EXEC_GATHER(argv, first)                                  \
	do {                                                      \
		va_list gathered;                                 \
		size_t n;                                         \
                                                                  \
		va_start(gathered, first);                        \
		n = exec_count(gathered);                         \
		va_end(gathered);                                 \
		argv = alloca((n + 1) * sizeof(*argv));           \
		va_start(gathered, first);                        \
		exec_gather(argv, first, n, gathered);            \
		va_end(gathered);                                 \
	} while (0)

HOOK int execl(const char *path, const char *first, ...)
{
	const char **argv;

	EXEC_GATHER(argv, first);
	return exec_path(REAL_execve, path, (char *const *)argv, __environ);
}

HOOK int execlp(const char *file, const char *first, ...)
{
	const char **argv;

	EXEC_GATHER(argv, first);
	return exec_path(REAL_execvpe, file, (char *const *)argv, __environ);
}

/* The environment follows the NULL. */
HOOK int execle(const char *path, const char *first, ...)
{
	const char **argv, *last = first;
	char *const *envp;
	va_list list;

	EXEC_GATHER(argv, first);
	va_start(list, first);
	while (last)
		last = va_arg(list, const char *);
	envp = va_arg(list, char *const *);
	va_end(list);
	return exec_path(REAL_execve, path, (char *const *)argv, envp);
}

/* ---- children ---- */

int posix_spawn(pid_t *pid, const char *path, const void *actions,
		const void *attributes, char *const *argv, char *const *envp);
int posix_spawnp(pid_t *pid, const char *file, const void *actions,
		 const void *attributes, char *const *argv, char *const *envp);

static int exec_spawn(enum real_slot which, pid_t *pid, const char *path,
		      const void *actions, const void *attributes,
		      char *const *argv, char *const *envp)
{
	struct exec exec = {
		.real = real_of(which), .envp = 5,
		.from = AT_FDCWD, .path = path,
		.looked_for = which == REAL_posix_spawnp,
		.argument = { (long)pid, (long)path, (long)actions,
			      (long)attributes, (long)argv, (long)envp },
	};

	return exec_run(&exec);
}

HOOK int posix_spawn(pid_t *pid, const char *path, const void *actions,
		     const void *attributes, char *const *argv,
		     char *const *envp)
{
	return exec_spawn(REAL_posix_spawn, pid, path, actions, attributes,
			  argv, envp);
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const void *actions,
		      const void *attributes, char *const *argv,
		      char *const *envp)
{
	return exec_spawn(REAL_posix_spawnp, pid, file, actions, attributes,
			  argv, envp);
}

int system(const char *command);

HOOK int system(const char *command)
{
	__typeof__(system) *real_system = REAL(system);
	int status, shown;

	if (!real_system)
		return identity_missing();
	shown = environment_show();
	status = real_system(command);
	environment_conceal(shown);
	return status;
}

HOOK FILE *popen(const char *command, const char *mode)
{
	__typeof__(popen) *real_popen = REAL(popen);
	FILE *file;
	int shown;

	if (!real_popen) {
		identity_missing();
		return NULL;
	}
	shown = environment_show();
	file = real_popen(command, mode);
	environment_conceal(shown);
	return file;
}
