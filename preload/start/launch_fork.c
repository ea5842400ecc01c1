/*
 * launch_fork.c: see launch_job.h: starts the recorder by plain forks.
 *
 *	thread ── fork ──▶ child ── fork ──▶ execve ─▶ recorder
 *	  ▲                  │ closes what is not the recorder's
 *	  └── result ◀───────┘
 *
 * I1 and I2 of launch.c hold here, too.
 *
 * I3: a plain fork's child has neither the area nor the live mapping: it works
 * on launch_copy.
 */
#include "preload/start/launch_job.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/base/sys.h"
#include "preload/ring/forbidden.h"
#include "unwind/base/signals.h"

static struct launch launch_copy;	/* I3 */

/* Forks without an exit signal; with SIGCHLD under emulators, which support
 * nothing else. */
static long launch_fork_twice(void)
{
	long pid = arch_syscall5(__NR_clone, 0, 0, 0, 0, 0);

	return pid == -EINVAL ?
		       arch_syscall5(__NR_clone, SIGCHLD, 0, 0, 0, 0) : pid;
}

/* Whether SIGCHLD is pending for the calling thread, or its process. */
static bool launch_fork_signalled(void)
{
	struct signals_set pending = { { 0 } };

	arch_syscall2(__NR_rt_sigpending, (long)&pending, SIGNALS_SET);
	return pending.word[0] & SIGNALS_BIT(SIGCHLD);
}

/* Removes the pending signal of our own child, which has ended (signals are
 * blocked, I1). */
static void launch_fork_unsignal(void)
{
	static const struct signals_set only = { { SIGNALS_BIT(SIGCHLD) } };
	const struct timespec none = { 0, 0 };

	arch_syscall4(__NR_rt_sigtimedwait, (long)&only, 0, (long)&none,
		      SIGNALS_SET);
}

/* The child, I3: reports failure by its exit status. A pipe that closes at
 * execve carries execve's error. */
static void launch_fork_child(const struct launch *launch)
{
	int keep[2 + 1 + GL_FILES] = { 2, launch->output, launch->made.fd };
	int32_t ends[2] = { -1, -1 };
	long pid, status, err = 0;

	memcpy(keep + 3, launch->file, sizeof(launch->file));
	launch_files_close(keep, sizeof(keep) / sizeof(*keep));
	arch_syscall2(__NR_pipe2, (long)ends, O_CLOEXEC);
	pid = launch_fork_twice();
	if (pid == 0) {
		status = launch_words_execute(launch);
		/* without a pipe the error is lost */
		sys_write(ends[1], &status, sizeof(status));
		for (;;)
			arch_syscall1(__NR_exit, 127);
	}
	sys_close(ends[1]);
	if (sys_failed(pid))
		err = pid;
	else if (sys_read(ends[0], &status, sizeof(status)) == sizeof(status))
		err = status;
	for (;;)
		arch_syscall1(__NR_exit, -err);
}

/* Chooses how the process probes whether memory can be read. valgrind reports
 * the usual probe as an error of the program; an emulator does not check the
 * address, and needs another call. */
static void launch_fork_probe(bool emulated)
{
	uintptr_t none = (uintptr_t)sys_mmap(NULL, LAUNCH_STACK, PROT_NONE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1,
					     0);

	unwind_emulated = emulated && !sys_failed((long)none);
	if (!unwind_emulated || unwind_probe(none) ||
	    !unwind_probe((uintptr_t)&none)) {
		unwind_emulated = false;
		forbidden_add(UNWIND_NO_PROBE);
	}
	if (!sys_failed((long)none))
		sys_munmap((void *)none, LAUNCH_STACK);
}

BASE_SLOW int launch_fork(struct launch *launch, bool emulated)
{
	bool signalled = launch_fork_signalled();
	int32_t status = 0;
	long pid;
	int err;

	launch->alone = true;
	launch_fork_probe(emulated);
	launch->files = LAUNCH_FILES;	/* they are closed again */
	err = launch_make(launch);
	if (err)
		return err;
	launch_files_memory(launch);
	launch_copy = *launch;
	launch_words_make(&launch_copy);
	pid = launch_fork_twice();
	if (pid == 0)
		launch_fork_child(&launch_copy);
	launch_files_shut(launch);
	if (sys_failed(pid))
		return (int)pid;
	while (arch_syscall4(__NR_wait4, pid, (long)&status, __WALL, 0) ==
	       -EINTR)
		;
	if (!signalled && launch_fork_signalled())
		launch_fork_unsignal();
	if (status)
		launch_failed(launch, WIFEXITED(status) ?
					      -WEXITSTATUS(status) : -ECHILD);
	return 0;
}
