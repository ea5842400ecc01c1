/*
 * ui_heap.c: `bench-ui-heap EVENTS THREADS [SPREAD_GIB]`: a program for part "ui":
 * what it does with memory has something to show in each view.
 *
 * Each thread goes through STACKS call stacks of named functions, by a number
 * that also gives size and lifetime:
 *
 *	parse_*    temporary: freed before the thread's next allocation
 *	cache_*    lives until its slot of the thread is taken by another one
 *	queue_*    goes into a slot that all threads share: mostly freed by others
 *	grow_*     is made larger by realloc once, then in a slot
 *	leak_*     one in LEAK_EVERY is never freed
 *
 * With SPREAD_GIB blocks of some 100 KiB fill so many GiB of addresses first, of
 * which every second one, at random, goes again. Nobody writes into them, so they
 * take hardly any memory.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WAYS 5			/* kinds of functions, */
#define NAMES 4			/* of each kind so many */
#define FUNCTIONS (WAYS * NAMES)
#define DEPTH 3
#define STACKS (FUNCTIONS * FUNCTIONS * FUNCTIONS)
#define SLOTS 4096		/* of each thread, and that all share */
#define LEAK_EVERY 64
#define THREADS_MAX 64
#define SPREAD_SIZE (64 << 10)	/* at least; four times that at most */

struct worker {
	pthread_t thread;
	uint64_t random;
	uint64_t left;		/* events, as a trace counts them */
	void *slots[SLOTS];
};

static _Atomic(void *) shared[SLOTS];

/* xorshift64 (Marsaglia, 2003) */
static uint64_t next_random(struct worker *worker)
{
	uint64_t x = worker->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return worker->random = x;
}

static void *make(struct worker *worker, size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		abort();
	worker->left -= worker->left > 0;
	return block;
}

static void drop(struct worker *worker, void *block)
{
	if (block == NULL)
		return;
	free(block);
	worker->left -= worker->left > 0;
}

static void put(struct worker *worker, void *block)
{
	void **slot = &worker->slots[next_random(worker) % SLOTS];

	drop(worker, *slot);
	*slot = block;
}

static void use(struct worker *worker, unsigned kind, unsigned stack)
{
	size_t size = 16 + (size_t)(stack % 61) * (1 + stack % 7) * 8;
	void *block = make(worker, size);

	switch (kind) {
	case 0:
		drop(worker, block);
		break;
	case 1:
		put(worker, block);
		break;
	case 2:
		/* relaxed: whoever takes a block looks at none of its bytes */
		drop(worker, atomic_exchange_explicit(
			&shared[next_random(worker) % SLOTS], block,
			memory_order_relaxed));
		break;
	case 3:
		block = realloc(block, 2 * size);
		if (block == NULL)
			abort();
		/* recorded as two events: moved from, moved to */
		worker->left -= worker->left < 2 ? worker->left : 2;
		put(worker, block);
		break;
	default:
		if (next_random(worker) % LEAK_EVERY != 0)
			drop(worker, block);
		break;
	}
}

typedef void step(struct worker *worker, unsigned stack, unsigned way,
		  unsigned depth);
static step *const steps[FUNCTIONS];

/* The empty asm keeps the call from being the last thing done. */
#define STEP(name, kind)						\
	static __attribute__((noinline)) void				\
	name(struct worker *worker, unsigned stack, unsigned way,	\
	     unsigned depth)						\
	{								\
		if (depth == 0)						\
			use(worker, kind, stack);			\
		else							\
			steps[way % FUNCTIONS](worker, stack,		\
				way / FUNCTIONS, depth - 1);		\
		__asm__ volatile("" ::: "memory");			\
	}
#define STEPS(name, kind)						\
	STEP(name##_header, kind) STEP(name##_line, kind)		\
	STEP(name##_field, kind) STEP(name##_footer, kind)
#define NAMED(name) name##_header, name##_line, name##_field, name##_footer

STEPS(parse, 0)
STEPS(cache, 1)
STEPS(queue, 2)
STEPS(grow, 3)
STEPS(leak, 4)

static step *const steps[FUNCTIONS] = {
	NAMED(parse), NAMED(cache), NAMED(queue), NAMED(grow), NAMED(leak),
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	while (worker->left > 0) {
		unsigned stack = (unsigned)(next_random(worker) % STACKS);

		steps[stack % FUNCTIONS](worker, stack, stack / FUNCTIONS,
					 DEPTH - 1);
	}
	return NULL;
}

static __attribute__((noinline)) void spread(struct worker *worker,
					     uint64_t bytes)
{
	size_t count = 0, capacity = bytes / SPREAD_SIZE + 1;
	void **blocks = calloc(capacity, sizeof(*blocks));

	if (blocks == NULL || mallopt(M_MMAP_THRESHOLD, 1 << 30) == 0)
		abort();
	for (uint64_t done = 0; done < bytes; count++) {
		size_t size = SPREAD_SIZE +
			next_random(worker) % (3 * SPREAD_SIZE);

		blocks[count] = make(worker, size);
		done += size;
	}
	for (size_t i = 0; i < count; i++)
		if (next_random(worker) % 2 == 0)
			free(blocks[i]);
	free(blocks);
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	uint64_t events = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: bench-ui-heap EVENTS THREADS "
			"[SPREAD_GIB]\n");
		return 2;
	}
	for (unsigned i = 0; i < threads; i++) {
		workers[i].random = 88172645463325252 + i;
		workers[i].left = events / threads;
	}
	if (argc > 3)
		spread(&workers[0], strtoull(argv[3], NULL, 10) << 30);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work,
				   &workers[i]) != 0)
			abort();
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}
