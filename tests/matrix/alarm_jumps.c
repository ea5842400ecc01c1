// FLAGS: -lbump
/*
 * alarm_jumps.c [stack]: a fast timer interrupts a program that allocates at
 * all depths, so also its profiler, at any instruction; the handler allocates
 * in depths of its own and leaves by siglongjmp, most often right to the
 * outermost frame, else to one in the middle that then returns outward through
 * all that was captured there. With "stack" it runs on an alternate stack.
 *
 * Over the allocator of libbump.so, which may be jumped out of. What is
 * counted does not depend on when the signals come.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "deep.h"

#define SIGNALS 700
#define PERIOD_US 60
#define LEVELS 60

static sigjmp_buf outermost, middle;
static volatile int middle_set;
static volatile unsigned handled, jumped_out, jumped_middle, wrong;

static void arm(void)
{
	struct itimerval timer = { { 0, 0 }, { 0, PERIOD_US } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void handler(int number)
{
	unsigned n = handled++;

	(void)number;
	deep(n % 12, deep_nothing, NULL);
	if (n % 5 == 4) {
		arm();
		return;
	}
	if (middle_set && n % 5 != 0) {
		jumped_middle++;
		siglongjmp(middle, 1);
	}
	jumped_out++;
	middle_set = 0;
	siglongjmp(outermost, 1);
}

/* The same work whether it was interrupted or not. */
static long work(int depth)
{
	void *block = tgt_malloc(20 + depth);
	long answer = depth ? work(depth - 1) + 1 : 0;

	tgt_free(tgt_malloc(5), 5);
	tgt_free(block, 20 + depth);
	return answer;
}

/* Works until a jump comes, then from here again, now and then returning. */
static long middle_frame(void)
{
	volatile long rounds = 0;

	sigsetjmp(middle, 1);
	middle_set = 1;
	arm();
	while (handled < SIGNALS && rounds++ < 40) {
		long depth = rounds * 7 % 50;

		if (work((int)depth) != depth)
			wrong++;
	}
	middle_set = 0;
	return 0;
}

static long outward(int level)
{
	long answer;

	if (level == 0)
		return middle_frame();
	answer = outward(level - 1) + 1;
	tgt_free(tgt_malloc(33), 33);
	return answer;
}

static void use_own_stack(struct sigaction *action)
{
	static char memory[64 << 10];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	sigaltstack(&stack, NULL);
	action->sa_flags = SA_ONSTACK;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler };
	static int level;	/* kept across the jump */

	if (argc > 1 && !strcmp(argv[1], "stack"))
		use_own_stack(&action);
	sigsetjmp(outermost, 1);
	sigaction(SIGALRM, &action, NULL);
	arm();
	while (handled < SIGNALS) {
		level = (level + 7) % LEVELS;
		if (outward(level) != level)
			wrong++;
	}
	signal(SIGALRM, SIG_IGN);
	tgt_print("both_ways", jumped_out > 0 && jumped_middle > 0);
	tgt_print("wrong", wrong);
	return wrong != 0;
}
