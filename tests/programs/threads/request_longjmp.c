// FLAGS: -pthread
/*
 * request_longjmp.c: a timer's handler jumps out of setuid again and again, to
 * the id that the process already has, and so also out of the request that
 * follows it. Then the main thread and another one change ids undisturbed, and
 * allocate. Prints how often it jumped, whether any thread waited for seconds,
 * and the final blocks.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tgt.h"

#define JUMPS 200
#define CHANGES 50
#define SLOW_NS INT64_C(1500000000)	/* a question times out after 2 s */

static sigjmp_buf back;
static volatile unsigned jumps;

static void on_alarm(int number)
{
	(void)number;
	jumps++;
	siglongjmp(back, 1);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void arm(unsigned us)
{
	struct itimerval timer = { { 0, 0 }, { 0, us } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void jump_out(void)
{
	sigsetjmp(back, 1);
	if (jumps == JUMPS)
		return;
	arm(100 + jumps * 7 % 300);
	for (;;)
		if (setuid(getuid()))
			_exit(3);
}

static void *change(void *slow)
{
	int i;

	for (i = 0; i < CHANGES; i++) {
		int64_t begin = now();

		if (setuid(getuid()))
			_exit(3);
		*(volatile unsigned *)slow += now() - begin > SLOW_NS;
	}
	return NULL;
}

TGT_FUNCTION void *last_malloc(void)
{
	return malloc(77);
}

int main(void)
{
	unsigned slow = 0;
	pthread_t thread;
	int i;

	/* what the first calls set up is not jumped out of */
	free(malloc(1));
	if (setuid(getuid()))
		return 3;
	signal(SIGALRM, on_alarm);
	jump_out();
	signal(SIGALRM, SIG_IGN);
	change(&slow);
	pthread_create(&thread, NULL, change, &slow);
	pthread_join(thread, NULL);
	for (i = 0; i < CHANGES; i++)
		tgt_sink = last_malloc();
	tgt_print("jumps", jumps);
	tgt_print("slow", slow);
	tgt_print("last", CHANGES);
	return 0;
}
