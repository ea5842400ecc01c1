/*
 * ended.c WAY: makes 40 children that allocate, ten of which crash, ten exit
 * with status 3, ten are sent SIGTERM, and ten end as they should. Prints
 * "child PID STATUS" of each, the status as waitpid gives it. WAY says who
 * waits for them:
 *
 *	wait	their parent, for one after the other
 *	all	their parent, for all at once at the end
 *	ignore	the kernel, as SIGCHLD is ignored
 *	orphan	init: they are children of a child that has ended
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tgt.h"

#define CHILDREN 40
#define EXITS 3

static _Noreturn void be_child(int kind, int ready)
{
	for (int i = 0; i < 10; i++)
		tgt_free(tgt_malloc(100), 100);
	if (kind == 0)
		*(volatile int *)8 = 1;
	if (kind == 1)
		exit(EXITS);
	if (kind == 2) {
		if (write(ready, "", 1) != 1)
			_exit(99);
		for (;;)
			pause();
	}
	_exit(0);
}

static pid_t make_child(int kind)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid == 0)
		be_child(kind, ends[1]);
	close(ends[1]);
	/* that it is there, or has ended */
	if (read(ends[0], &byte, 1) == 1)
		kill(pid, SIGTERM);
	close(ends[0]);
	return pid;
}

static void make_orphan(int kind)
{
	static const int statuses[] = { SIGSEGV, EXITS << 8, SIGTERM, 0 };
	pid_t middle = fork();

	if (middle == 0) {
		printf("child %d %d\n", (int)make_child(kind), statuses[kind]);
		fflush(stdout);
		_exit(0);
	}
	waitpid(middle, NULL, 0);
}

static void make(int i, const char *way)
{
	static const int statuses[] = { SIGSEGV, EXITS << 8, SIGTERM, 0 };
	int kind = i % 4;
	pid_t pid;

	if (strcmp(way, "orphan") == 0) {
		make_orphan(kind);
		return;
	}
	pid = make_child(kind);
	printf("child %d %d\n", (int)pid, statuses[kind]);
	fflush(stdout);
	if (strcmp(way, "wait") == 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct rlimit none = { 0, 0 };
	const char *way = argc > 1 ? argv[1] : "wait";

	setrlimit(RLIMIT_CORE, &none);
	if (strcmp(way, "ignore") == 0)
		signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++)
		make(i, way);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}
