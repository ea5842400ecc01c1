/*
 * control_probe.c: see control_probe.h.
 *
 * Where there may be such a filter, a process makes the calls first. It shares
 * nothing with us, so that its death is nobody else's: not even on kernels
 * that end all who share a memory that is dumped. Its stack is no memory of
 * the area, which a new process finds wiped.
 *
 * The answer is kept in static data: children have the same filters.
 */
#include "preload/control_probe.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "preload/sys.h"

#define PROBE_STACK (16u << 10)

enum { PROBE_UNKNOWN, PROBE_ALLOWED, PROBE_FORBIDDEN };
static int probe_answer;

/* What they say does not matter, nor what they are given. */
static void probe_calls(void *unused)
{
	struct sockaddr_un nowhere = { .sun_family = AF_UNIX };
	long fd;

	(void)unused;
	/* a death of this kind is no crash */
	arch_syscall2(__NR_prctl, PR_SET_DUMPABLE, 0);
	fd = arch_syscall3(__NR_socket, AF_UNIX,
			   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	arch_syscall3(__NR_bind, fd, (long)&nowhere,
		      sizeof(nowhere.sun_family));
	arch_syscall2(__NR_listen, fd, 1);
	arch_syscall4(__NR_accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
	arch_syscall5(__NR_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, 0, 0);
	arch_syscall6(__NR_recvfrom, fd, 0, 0, MSG_DONTWAIT, 0, 0);
	arch_syscall6(__NR_sendto, fd, 0, 0, MSG_DONTWAIT | MSG_NOSIGNAL, 0,
		      0);
	for (;;)
		arch_syscall1(__NR_exit, 0);
}

static bool probe_survives(void)
{
	long stack = sys_mmap(NULL, PROBE_STACK, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	long pid;

	if (sys_failed(stack))
		return false;
	pid = arch_clone_task(CLONE_UNTRACED, (char *)stack + PROBE_STACK,
			      NULL, probe_calls, NULL);
	if (!sys_failed(pid))
		arch_syscall4(__NR_wait4, pid, (long)&status, __WALL, 0);
	sys_munmap((void *)stack, PROBE_STACK);
	return status == 0;
}

bool control_probe(const struct seccomp_watch *watch)
{
	/* the writer of a child has filters that its parent has seen */
	if (!unwind_may(SECCOMP_NO_SOCKET))
		return false;
	if (!seccomp_unseen(watch))
		return true;
	if (probe_answer == PROBE_UNKNOWN)
		probe_answer = probe_survives() ? PROBE_ALLOWED :
						  PROBE_FORBIDDEN;
	return probe_answer == PROBE_ALLOWED;
}
