// FLAGS: -D_GNU_SOURCE
/*
 * ended.c WAY: makes 40 children that allocate: ten crash, ten exit with status
 * 3, ten are sent SIGTERM, and ten end normally. Prints "child PID STATUS" for
 * each, with waitpid's status. WAY says who waits for them:
 *
 *	wait	their parent, for one after the other
 *	wait0	so, by wait; wait3, wait4, waitid, raw4, rawid: by these
 *	all	their parent, for all at once at the end
 *	ignore	the kernel, as SIGCHLD is ignored
 *	orphan	init: they are children of a child that has ended
 *
 * or, as wait, what the children do:
 *
 *	vfork	they have a child of their own that shares their memory and
 *		exits with status 77, while SIGCHLD is ignored
 *	leave	they exit by _exit, and Leave: by _Exit; raw: by exit_group
 *	main	they return from main
 *	exec	they execute this program, as "ended leaf KIND FD"
 *	atexit	those that would exit crash in a handler as they do, and
 *		forget: while SIGCHLD is ignored
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tgt.h"

#define CHILDREN 40
#define EXITS 3

enum { CRASHES, EXITING, KILLED, FINE };

static const char *way = "wait";

static int is(const char *name)
{
	return strcmp(way, name) == 0;
}

/* Whether nobody is to wait for them. */
static int ignored(void)
{
	return is("ignore") || is("forget") || is("vfork");
}

static void crash(void)
{
	*(volatile int *)8 = 1;
}

/* Ends the process, or gives what main is to return. */
static int leave(int status)
{
	if (is("main"))
		return status;
	if (is("leave"))
		_exit(status);
	if (is("Leave"))
		_Exit(status);
	if (is("raw"))
		syscall(SYS_exit_group, status);
	if (status && (is("atexit") || is("forget")))
		atexit(crash);
	exit(status);
}

static int be_child(int kind, int ready)
{
	for (int i = 0; i < 10; i++)
		tgt_free(tgt_malloc(100), 100);
	if (is("vfork") && vfork() == 0)
		_exit(77);
	if (kind == CRASHES)
		crash();
	if (kind == KILLED) {
		if (write(ready, "", 1) != 1)
			_exit(99);
		for (;;)
			pause();
	}
	return leave(kind == EXITING ? EXITS : 0);
}

static int execute(int kind, int ready)
{
	char number[2][12];

	snprintf(number[0], sizeof(number[0]), "%d", kind);
	snprintf(number[1], sizeof(number[1]), "%d", ready);
	execl("/proc/self/exe", "ended", "leaf", number[0], number[1],
	      (char *)NULL);
	return 98;
}

/* 0: in the child, which ends with *status. */
static pid_t make_child(int kind, int *status)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		*status = is("exec") ? execute(kind, ends[1]) :
				       be_child(kind, ends[1]);
		return 0;
	}
	close(ends[1]);
	/* that it is there, or has ended */
	if (read(ends[0], &byte, 1) == 1)
		kill(pid, SIGTERM);
	close(ends[0]);
	return pid;
}

static void wait_for(pid_t pid)
{
	if (ignored() || is("all") || is("orphan"))
		return;
	if (is("wait0"))
		wait(NULL);
	else if (is("wait3"))
		wait3(NULL, 0, NULL);
	else if (is("wait4"))
		wait4(pid, NULL, 0, NULL);
	else if (is("waitid"))
		waitid(P_PID, pid, NULL, WEXITED);
	else if (is("raw4"))
		syscall(SYS_wait4, pid, NULL, 0, NULL);
	else if (is("rawid"))
		syscall(SYS_waitid, P_PID, pid, NULL, WEXITED, NULL);
	else
		waitpid(pid, NULL, 0);
}

/* False: in the child, as make_child. */
static int make(int kind, int *status)
{
	int crashes = kind == CRASHES ||
		(kind == EXITING && (is("atexit") || is("forget")));
	pid_t pid, middle = is("orphan") ? fork() : 0;

	if (middle) {
		waitpid(middle, NULL, 0);
		return 1;
	}
	pid = make_child(kind, status);
	if (pid == 0)
		return 0;
	printf("child %d %d\n", (int)pid,
	       crashes ? SIGSEGV :
	       kind == EXITING ? EXITS << 8 :
	       kind == KILLED ? SIGTERM : 0);
	fflush(stdout);
	if (is("orphan"))
		_exit(0);
	wait_for(pid);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct rlimit none = { 0, 0 };
	int status;

	if (argc == 4)
		return be_child(atoi(argv[2]), atoi(argv[3]));
	if (argc > 1)
		way = argv[1];
	setrlimit(RLIMIT_CORE, &none);
	if (ignored())
		signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++)
		if (!make(i % 4, &status))
			return status;
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}
