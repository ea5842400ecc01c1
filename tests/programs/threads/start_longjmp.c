// FLAGS: -pthread
/*
 * start_longjmp.c: in some children a timer's handler jumps out of the first
 * calls that the profiler sees, and so out of what these start. Then the
 * child's main thread and another one allocate. Prints how many children there
 * were, how many of them jumped, and how many blocks each has in the end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tgt.h"

#define CHILDREN 25
#define STEP_US 80
#define BLOCKS 20

static sigjmp_buf back;
static volatile unsigned jumps;

static void on_alarm(int number)
{
	(void)number;
	jumps++;
	siglongjmp(back, 1);
}

static void jump_out(unsigned us)
{
	struct itimerval timer = { { 0, 0 }, { 0, us } };

	sigsetjmp(back, 1);
	if (jumps)
		return;
	setitimer(ITIMER_REAL, &timer, NULL);
	for (;;) {
		void *page = mmap(NULL, 4096, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(page, 4096);
	}
}

TGT_FUNCTION void *last_malloc(void)
{
	return malloc(77);
}

static void *allocate(void *nothing)
{
	int i;

	for (i = 0; i < BLOCKS / 2; i++)
		tgt_sink = last_malloc();
	return nothing;
}

static void child(unsigned us)
{
	pthread_t thread;

	signal(SIGALRM, on_alarm);
	jump_out(us);
	signal(SIGALRM, SIG_IGN);
	allocate(NULL);
	pthread_create(&thread, NULL, allocate, NULL);
	pthread_join(thread, NULL);
	_exit(jumps == 1 ? 0 : 3);
}

int main(void)
{
	int i, status, jumped = 0;

	for (i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid)
			child(1 + i * STEP_US);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 3;
		jumped += status == 0;
	}
	tgt_print("children", CHILDREN);
	tgt_print("jumped", jumped);
	tgt_print("blocks", BLOCKS);
	return 0;
}
