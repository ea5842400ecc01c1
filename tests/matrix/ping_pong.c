// FLAGS: -pthread
// LINK: switch_stack.S
/*
 * ping_pong.c: several stacks in one thread and one stack in several threads.
 * The main stack and four others hand control to each other by swapcontext in
 * the middle of deep recursions that allocate; then by setcontext, back to a
 * frame that is still there; then by a switch written by hand; and a stack
 * begun in one thread goes on in others while it is deep inside. Half of the
 * stacks are dropped without having returned, unmapped, and their addresses
 * mapped anew for stacks that do other things there. Others lie in the midst
 * of the main stack, in a frame.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "deep.h"

#define STACKS 4
#define STACK_SIZE (256 << 10)

struct side {
	ucontext_t own, back;	/* with swapcontext */
	void *own_sp, *back_sp;	/* by hand */
	char *memory;
	int by_hand, number, rounds, finished, borrowed;
	long sum;
};

static struct side sides[STACKS];
static uint64_t switches, wrong;

void switch_stack(void **save, void *to);
void start_on(void **save, void *top, void (*function)(void));

static void yield(struct side *side)
{
	switches++;
	if (side->by_hand)
		switch_stack(&side->own_sp, side->back_sp);
	else
		swapcontext(&side->own, &side->back);
}

static void resume(struct side *side)
{
	if (side->by_hand)
		switch_stack(&side->back_sp, side->own_sp);
	else
		swapcontext(&side->back, &side->own);
}

static long yield_at_bottom(void *argument)
{
	struct side *side = argument;

	yield(side);
	tgt_free(tgt_malloc(42), 42);
	yield(side);
	return 0;
}

/* Yields at every fourth level on the way in and out as well. */
static long wander(struct side *side, int depth)
{
	void *block = tgt_malloc(20 + depth);
	long answer;

	if (depth % 4 == 3)
		yield(side);
	answer = depth ? wander(side, depth - 1) + 1 : 0;
	if (depth % 4 == 1)
		yield(side);
	tgt_free(block, 20 + depth);
	return answer;
}

static void body(struct side *side)
{
	for (int i = 0; i < side->rounds; i++) {
		int depth = (side->number * 11 + i * 17) % 70;

		side->sum += deep(depth, yield_at_bottom, side);
		side->sum += wander(side, depth / 2);
		side->sum += deep_wide(depth, yield_at_bottom, side);
	}
	side->finished = 1;
	for (;;)
		yield(side);
}

static void entry(int number)
{
	body(&sides[number]);
}

static struct side *beginning;

static void entry_by_hand(void)
{
	body(beginning);
}

/* New memory at the same place, unless it is a part of another stack. */
static void give_memory(struct side *side, char *borrowed)
{
	void *where = side->borrowed ? NULL : side->memory;

	if (where)
		munmap(where, STACK_SIZE);
	memset(side, 0, sizeof(*side));
	side->borrowed = borrowed != NULL;
	side->memory = borrowed ? borrowed :
		mmap(where, STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (side->memory == MAP_FAILED)
		exit(3);
}

static void begin(int number, int by_hand, char *borrowed)
{
	struct side *side = &sides[number];

	give_memory(side, borrowed);
	side->number = number;
	side->by_hand = by_hand;
	side->rounds = 6;
	if (by_hand) {
		beginning = side;
		start_on(&side->back_sp, side->memory + STACK_SIZE,
			 entry_by_hand);
		return;
	}
	getcontext(&side->own);
	side->own.uc_stack.ss_sp = side->memory;
	side->own.uc_stack.ss_size = STACK_SIZE;
	makecontext(&side->own, (void (*)(void))entry, 1, number);
}

/* Each unfinished stack once, from some depth of this one. */
static long turn(void *argument)
{
	int *running = argument;

	*running = 0;
	for (int i = 0; i < STACKS; i++) {
		if (sides[i].finished)
			continue;
		resume(&sides[i]);
		*running = 1;
		tgt_free(tgt_malloc(14), 14);
	}
	return 0;
}

static void *turns(void *argument)
{
	int running, depth = 0;

	for (int i = 0; i < *(int *)argument; i++) {
		depth = (depth + 23) % 80;
		wrong += deep(depth, turn, &running) != depth;
		wrong += deep_wide(depth, turn, &running) != depth;
		if (!running)
			break;
	}
	return NULL;
}

static void in_thread(int count)
{
	pthread_t thread;

	pthread_create(&thread, NULL, turns, &count);
	pthread_join(thread, NULL);
}

/* setcontext to a frame that stands, from far inside, three times. */
static void set_context(int depth)
{
	static ucontext_t here;
	volatile int times = 0;

	getcontext(&here);
	tgt_free(tgt_malloc(35), 35);
	if (times++ < 3) {
		deep(depth, (deep_bottom)(void *)setcontext, &here);
		wrong++;
	}
	wrong += times != 4;
}

static long set_contexts(void *argument)
{
	set_context(*(int *)argument);
	return 0;
}

/* borrowed: the stacks lie in a frame of the caller's. */
static void episode(int number, char *borrowed)
{
	int many = 1000, few = 5 + number;

	for (int i = 0; i < STACKS; i++)
		begin(i, (i + number) % 2,
		      borrowed ? borrowed + i * STACK_SIZE : NULL);
	turns(&few);
	in_thread(few);
	turns(&few);
	if (number % 2)
		return;		/* dropped as they are */
	in_thread(many);
	for (int i = 0; i < STACKS; i++)
		tgt_print("sum", sides[i].sum);
}

static long borrow(void *argument)
{
	char stacks[STACKS * STACK_SIZE] __attribute__((aligned(64)));

	episode(*(int *)argument, stacks);
	return 0;
}

int main(void)
{
	for (int i = 0; i < 8; i++)
		episode(i, NULL);
	for (int i = 0; i < 4; i++)
		wrong += deep(20 * i, borrow, &i) != 20 * i;
	for (int i = 8; i < 10; i++)
		episode(i, NULL);
	for (int depth = 1; depth < 100; depth += 7)
		wrong += deep(depth, set_contexts, &depth) != depth;
	tgt_print("switches", switches);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
