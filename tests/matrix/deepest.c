// FLAGS: -pthread
/*
 * deepest.c HOW: stacks as deep as they get. HOW:
 *   recursion  100 000 frames, some allocate, in and out, twice
 *   steps      the same, but goes out and in again by a random number of
 *              frames all the time
 *   overflow   recursion without end; the handler of SIGSEGV, on a stack of
 *              its own, allocates, prints and ends the process
 *   jump       the handler leaves by siglongjmp; three times, then all goes on
 *   thread     as jump, in a thread with a small stack
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "deep.h"

#define FRAMES 100000

static sigjmp_buf outside;
static uint64_t wrong;
static volatile int leaves, stays;

static long recursion(long depth)
{
	void *block = depth % 2500 ? NULL : tgt_malloc(100);
	long answer = depth ? recursion(depth - 1) + 1 : 0;

	if (block) {
		tgt_free(tgt_malloc(50), 50);
		tgt_free(block, 100);
	}
	return answer;
}

/* From each level where the generator says so, down again by some. */
static long steps(long depth, long bottom, unsigned *seed)
{
	long answer = 0;

	if (depth < bottom)
		answer = steps(depth + 1, bottom, seed) + 1;
	if (depth % 200 == 0)
		tgt_free(tgt_malloc(60), 60);
	*seed = *seed * 1103515245u + 12345u;
	if (depth % 1000 == 7)
		steps(depth + 1, depth + 10 + (*seed >> 16) % 800, seed);
	return answer;
}

static void handler(int number)
{
	(void)number;
	tgt_free(tgt_malloc(70), 70);
	deep(20, deep_nothing, NULL);
	if (leaves)
		siglongjmp(outside, 1);
	tgt_write("overflow\n");
	_exit(3);
}

/* Large frames, so that it is mostly here that the stack ends. */
static long endless(long depth)
{
	volatile char space[2000];

	space[depth % 2000] = 1;
	if (depth % 64 == 0)
		tgt_free(tgt_malloc(80), 80);
	return stays ? depth : endless(depth + 1) + space[depth % 2000];
}

static void overflows(void)
{
	static char memory[2][64 << 10];
	static int next;
	stack_t stack = { .ss_sp = memory[next++], .ss_size = 64 << 10 };
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_ONSTACK };
	volatile int times = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(outside, 1))
		times++;
	wrong += deep(90, deep_nothing, NULL) != 90;
	if (times < 3)
		endless(0);
	tgt_print("times", times);
}

static void *in_thread(void *argument)
{
	overflows();
	return argument;
}

static void with_small_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_create(&thread, &attributes, in_thread, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "recursion";
	unsigned seed = 1;

	if (!strcmp(how, "recursion")) {
		for (int i = 0; i < 2; i++)
			wrong += recursion(FRAMES) != FRAMES;
	} else if (!strcmp(how, "steps")) {
		wrong += steps(0, FRAMES / 4, &seed) != FRAMES / 4;
	} else {
		leaves = strcmp(how, "overflow") != 0;
		if (!strcmp(how, "thread"))
			with_small_stack();
		else
			overflows();
	}
	tgt_print("wrong", wrong);
	/* how deep it was when the stack ended is no concern of the result */
	if (!leaves)
		tgt_report();
	return wrong != 0;
}
