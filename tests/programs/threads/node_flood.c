// FLAGS: -pthread
/*
 * node_flood.c: makes more and more work for the recorder: it prints "ready",
 * waits for a line, and allocates from stacks that are all different, then in
 * many simultaneous threads.
 */
#include <pthread.h>

#include "tgt.h"

#define STACKS_LOG 15
#define THREADS 200

static void *wander(unsigned bits, unsigned left);

/* The same function, called from two places. */
static void *wander(unsigned bits, unsigned left)
{
	void *block;

	if (!left)
		return tgt_malloc(24);
	if (bits & 1)
		block = wander(bits >> 1, left - 1);
	else
		block = wander(bits >> 1, left - 1);
	__asm__ volatile("" : "+r"(block));
	return block;
}

static pthread_barrier_t together;

static void *allocate(void *unused)
{
	for (int i = 0; i < 10; i++)
		tgt_free(tgt_malloc(100), 100);
	pthread_barrier_wait(&together);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];
	char go;

	tgt_free(tgt_malloc(1), 1);
	tgt_write("ready\n");
	if (read(STDIN_FILENO, &go, 1) < 0)
		abort();
	for (unsigned i = 0; i < 1u << STACKS_LOG; i++)
		tgt_free(wander(i, STACKS_LOG), 24);
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tgt_report();
	return 0;
}
