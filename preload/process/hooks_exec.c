/*
 * hooks_exec.c: the functions that start a program, or put one in the place of
 * this one. What is started gets our variables where the recording follows it
 * (environment.h); everything else is the real function's.
 *
 * Called from anywhere, also in signal handlers and in children that share
 * their parent's memory and stack (vfork): nothing but the stack is written,
 * or, for an environment that is too large for it, a mapping, which is given
 * back if the call fails.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/life.h"
#include "preload/process/ending.h"
#include "preload/process/environment.h"
#include "preload/ring/recorder.h"

#define EXEC_STACK_MAX (32u << 10)	/* of a caller's stack */

typedef char *const exec_strings[];

extern char **__environ __attribute__((weak));

/* One exec: which, and on what. */
struct exec {
	int (*call)(const struct exec *exec, char *const *envp);
	void *real;
	bool replaces;		/* not posix_spawn */
	const char *path;
	int fd, flags;
	char *const *argv;
	/* posix_spawn */
	pid_t *pid;
	const void *actions, *attributes;
};

static int exec_on_map(const struct exec *exec, char *const *envp,
		       size_t bytes)
{
	void *room = sys_map_pages(bytes);
	int result;

	if (!room)
		return exec->call(exec, envp);
	result = exec->call(exec, environment_make(envp, room, bytes));
	sys_munmap(room, bytes);
	return result;
}

static int exec_with(const struct exec *exec, char *const *envp)
{
	size_t bytes;

	if (!exec->real)
		return life_missing();
	bytes = environment_room(envp);
	if (!bytes)
		return exec->call(exec, envp);
	if (bytes > EXEC_STACK_MAX)
		return exec_on_map(exec, envp, bytes);
	return exec->call(exec,
			  environment_make(envp, alloca(bytes), bytes));
}

/* Whether it is this process that is to be replaced: a child that shares our
 * memory (vfork) is another. */
static bool exec_replaces(const struct exec *exec)
{
	return exec->replaces && recorder_is_on(recorder) &&
	       unwind_may(UNWIND_NO_IDS) && sys_getpid() == recorder->pid;
}

/* Pairs with the writer's acquire, when it finds the process ended. */
static int exec_run(const struct exec *exec, char *const *envp)
{
	struct gl_shared *shared = exec_replaces(exec) ? recorder->shared :
							 NULL;
	uint32_t look = 0;
	int result;

	if (shared) {
		/* its trace is to have its name before that of the next */
		recorder_settle();
		atomic_fetch_add_explicit(&shared->execs, 1,
					  memory_order_release);
		look = ending_exec();
	}
	result = exec_with(exec, envp);
	if (shared) {
		ending_failed(look);
		atomic_fetch_sub_explicit(&shared->execs, 1,
					  memory_order_release);
	}
	return result;
}

static int exec_call_path(const struct exec *exec, char *const *envp)
{
	int (*real_exec)(const char *, char *const *, char *const *) =
		(int (*)(const char *, char *const *, char *const *))exec->real;

	return real_exec(exec->path, exec->argv, envp);
}

static int exec_call_fd(const struct exec *exec, char *const *envp)
{
	int (*real_exec)(int, char *const *, char *const *) =
		(int (*)(int, char *const *, char *const *))exec->real;

	return real_exec(exec->fd, exec->argv, envp);
}

static int exec_call_at(const struct exec *exec, char *const *envp)
{
	long (*real_syscall)(long, long, long, long, long, long) =
		(long (*)(long, long, long, long, long, long))exec->real;

	return real_syscall(__NR_execveat, exec->fd, (long)exec->path,
			    (long)exec->argv, (long)envp, exec->flags);
}

static int exec_call_spawn(const struct exec *exec, char *const *envp)
{
	int (*real_spawn)(pid_t *, const char *, const void *, const void *,
			  char *const *, char *const *) =
		(int (*)(pid_t *, const char *, const void *, const void *,
			 char *const *, char *const *))exec->real;

	return real_spawn(exec->pid, exec->path, exec->actions,
			  exec->attributes, exec->argv, envp);
}

static int exec_path(enum real_slot which, const char *path,
		     char *const *argv, char *const *envp)
{
	struct exec exec = { .call = exec_call_path, .real = real_of(which),
			     .replaces = true, .path = path, .argv = argv };

	return exec_run(&exec, envp);
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
	struct exec exec = { .call = exec_call_fd, .replaces = true,
			     .real = real_of(REAL_fexecve), .fd = fd,
			     .argv = argv };

	return exec_run(&exec, envp);
}

/* By the system call: what a C library's function adds to it, if it has one,
 * is nothing. */
HOOK int execveat(int fd, const char *path, exec_strings argv,
		  exec_strings envp, int flags)
{
	struct exec exec = { .call = exec_call_at, .replaces = true,
			     .real = real_of(REAL_syscall), .fd = fd,
			     .path = path, .argv = argv, .flags = flags };

	return exec_run(&exec, envp);
}

/* ---- arguments one by one ---- */

/* How many there are with the first, without the NULL that ends them. */
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

HOOK int posix_spawn(pid_t *pid, const char *path, const void *actions,
		     const void *attributes, char *const *argv,
		     char *const *envp)
{
	struct exec exec = { .call = exec_call_spawn,
			     .real = real_of(REAL_posix_spawn), .path = path,
			     .argv = argv, .pid = pid, .actions = actions,
			     .attributes = attributes };

	return exec_run(&exec, envp);
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const void *actions,
		      const void *attributes, char *const *argv,
		      char *const *envp)
{
	struct exec exec = { .call = exec_call_spawn,
			     .real = real_of(REAL_posix_spawnp),
			     .path = file, .argv = argv, .pid = pid,
			     .actions = actions, .attributes = attributes };

	return exec_run(&exec, envp);
}

int system(const char *command);

HOOK int system(const char *command)
{
	__typeof__(system) *real_system = REAL(system);
	int status, shown;

	if (!real_system)
		return life_missing();
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
		life_missing();
		return NULL;
	}
	shown = environment_show();
	file = real_popen(command, mode);
	environment_conceal(shown);
	return file;
}
