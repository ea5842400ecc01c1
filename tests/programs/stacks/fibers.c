// FLAGS: -pthread
/*
 * fibers.c: stacks that are not the thread's own: fibers made with
 * makecontext that allocate at several depths, switch in the middle of it,
 * move from one thread to another, and whose stacks are unmapped and mapped
 * anew at the same place.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tgt.h"

#define FIBERS 8
#define ROUNDS 40
#define STACK_SIZE (64 << 10)

struct fiber {
	ucontext_t own, back;
	void *stack;
	unsigned rounds;
	int done;
};

static struct fiber fibers[FIBERS];

static void in_depth(struct fiber *fiber, int depth)
{
	if (depth) {
		void *p = tgt_malloc(64 + depth);

		in_depth(fiber, depth - 1);
		tgt_free(p, 64 + depth);
		return;
	}
	tgt_malloc(32);
	swapcontext(&fiber->own, &fiber->back);
	tgt_malloc(48);
}

static void body(int number)
{
	struct fiber *fiber = &fibers[number];

	for (unsigned i = 0; i < fiber->rounds; i++)
		in_depth(fiber, 1 + (number + i) % 20);
	fiber->done = 1;
	swapcontext(&fiber->own, &fiber->back);
}

static void prepare(int number)
{
	struct fiber *fiber = &fibers[number];
	void *where = fiber->stack;

	if (where)
		munmap(where, STACK_SIZE);
	fiber->stack = mmap(where, STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fiber->stack == MAP_FAILED)
		exit(1);
	fiber->rounds = ROUNDS;
	fiber->done = 0;
	getcontext(&fiber->own);
	fiber->own.uc_stack.ss_sp = fiber->stack;
	fiber->own.uc_stack.ss_size = STACK_SIZE;
	fiber->own.uc_link = NULL;
	makecontext(&fiber->own, (void (*)(void))body, 1, number);
}

/* Lets each fiber that is not done run until it switches back. */
static int turn(void)
{
	int running = 0;

	for (int i = 0; i < FIBERS; i++) {
		if (fibers[i].done)
			continue;
		swapcontext(&fibers[i].back, &fibers[i].own);
		running = 1;
	}
	return running;
}

static void *other_thread(void *argument)
{
	(void)argument;
	for (int i = 0; i < ROUNDS / 2; i++)
		turn();
	return NULL;
}

int main(void)
{
	for (int epoch = 0; epoch < 20; epoch++) {
		pthread_t thread;

		for (int i = 0; i < FIBERS; i++)
			prepare(i);
		for (int i = 0; i < 7; i++)
			turn();
		pthread_create(&thread, NULL, other_thread, NULL);
		pthread_join(thread, NULL);
		while (turn())
			;
	}
	tgt_report();
	return 0;
}
