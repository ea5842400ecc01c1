// FLAGS: -pthread
/*
 * turnover.c [GENERATIONS STEPS]: 8 threads at a time, ended and replaced
 * continually; 400 in all. Each makes blocks at several depths and frees most.
 */
#include <pthread.h>

#include "tgt.h"

#define AT_ONCE 8

static int generations = 50, steps = 500;

static void *deeper(int depth, size_t size)
{
	void *p;

	if (depth == 0)
		return tgt_malloc(size);
	p = deeper(depth - 1, size);
	tgt_sink = p;
	return p;
}

static void *work(void *argument)
{
	unsigned seed = (uintptr_t)argument;

	for (int i = 0; i < steps; i++) {
		size_t size = 1 + (seed = seed * 1103515245u + 12345u) % 3000;
		void *p = deeper(seed >> 16 & 15, size);

		if (i % 50 != 49)
			tgt_free(p, size);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[AT_ONCE];
	uintptr_t count;

	if (argc > 2) {
		generations = atoi(argv[1]);
		steps = atoi(argv[2]);
	}
	count = AT_ONCE * generations;
	for (uintptr_t n = 0; n < count; n++) {
		if (n >= AT_ONCE)
			pthread_join(thread[n % AT_ONCE], NULL);
		if (pthread_create(&thread[n % AT_ONCE], NULL, work,
				   (void *)(n + 1)))
			return 1;
	}
	for (int i = 0; i < AT_ONCE; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	tgt_print("threads_min", count + 1);
	return 0;
}
