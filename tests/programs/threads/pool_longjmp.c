// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
/*
 * pool_longjmp.c: a handler jumps out of the destruction of a pool, which then
 * has no owner. Its next user may not wait for ever: after LIMIT seconds the
 * program exits with status 9. Prints the result of the next call.
 */
#include <gnomon/gnomon.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tgt.h"

#define BLOCKS 20000
#define LIMIT 60

static char pool, blocks[BLOCKS];
static sigjmp_buf outside;
static volatile sig_atomic_t inside;

static void leave(int number)
{
	(void)number;
	if (inside)
		siglongjmp(outside, 1);
}

static void too_long(int number)
{
	(void)number;
	_exit(9);
}

/* After so many microseconds. */
static void tick(int us)
{
	struct itimerval timer = { .it_value = { 0, us } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Whether it was left: the machine may be faster, or slower. */
static int leave_pool(int us)
{
	for (int i = 0; i < BLOCKS; i++)
		if (gnomon_pool_alloc(&pool, &blocks[i], 1))
			return 1;
	if (sigsetjmp(outside, 1))
		return 1;
	tick(us);
	inside = 1;
	gnomon_pool_destroy(&pool);
	inside = 0;
	tick(0);
	return 0;
}

/* What the call returns that comes upon what was left. */
static int use_again(void)
{
	struct itimerval limit = { .it_value = { LIMIT, 0 } };
	int err;

	signal(SIGALRM, too_long);
	setitimer(ITIMER_REAL, &limit, NULL);
	err = gnomon_pool_alloc(&pool, &blocks[0], 1);
	tick(0);
	signal(SIGALRM, leave);
	inside = 0;
	return err;
}

int main(void)
{
	int us = 400, err = 0;

	/* nobody records */
	if (gnomon_pool_create(&pool, "left"))
		return 0;
	signal(SIGALRM, leave);
	/* it may have come just behind the call */
	while (!err) {
		us = us > 100 ? us - us / 4 : 400;
		if (leave_pool(us))
			err = use_again();
	}
	printf("%d, then %d\n", err, gnomon_pool_create(&pool, "another"));
	return 0;
}
