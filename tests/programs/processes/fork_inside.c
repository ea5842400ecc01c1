/*
 * fork_inside.c [WAY]: a timer's handler forks, mostly inside of malloc or
 * free, and the child returns from the handler. The child completes the
 * interrupted call, allocates, and ends. Prints how many children there were,
 * how many ended normally, and how many blocks each has in the end.
 *
 *	fork_inside		fork()
 *	fork_inside raw		syscall(SYS_clone)
 *	fork_inside jump	the child leaves the handler by siglongjmp
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tgt.h"

#define CHILDREN 150
#define EVERY_US 2000
#define BLOCKS 20

static volatile int forked, is_child;
static int raw, jumps, right;
static sigjmp_buf out;

static long make_child(void)
{
	return raw ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
}

static void on_alarm(int number)
{
	(void)number;
	if (is_child || forked == CHILDREN)
		return;
	switch (make_child()) {
	case -1:
		_exit(3);
	case 0:
		is_child = 1;
		if (jumps)
			siglongjmp(out, 1);
		return;
	default:
		forked++;
	}
}

TGT_FUNCTION void *last_malloc(void)
{
	return malloc(77);
}

static void child(void)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		tgt_sink = last_malloc();
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	struct itimerval timer = { { 0, EVERY_US }, { 0, EVERY_US } };
	struct itimerval none = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm,
				    .sa_flags = SA_RESTART };
	int status;

	raw = !strcmp(way, "raw");
	jumps = !strcmp(way, "jump");
	sigaction(SIGALRM, &action, NULL);
	if (sigsetjmp(out, 1))
		child();
	setitimer(ITIMER_REAL, &timer, NULL);
	while (forked < CHILDREN) {
		void *first = malloc(24), *second = malloc(200);

		free(first);
		free(second);
		if (is_child)
			child();
	}
	setitimer(ITIMER_REAL, &none, NULL);
	while (wait(&status) > 0)
		right += status == 0;
	tgt_print("children", forked);
	tgt_print("right", right);
	tgt_print("blocks", BLOCKS);
	return 0;
}
