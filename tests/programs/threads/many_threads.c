// FLAGS: -pthread
/*
 * many_threads.c THREADS: THREADS threads that all exist at one time, each with
 * a few blocks that it frees.
 */
#include <pthread.h>

#include "tgt.h"

#define STACK (64 << 10)
#define BLOCKS 20

static pthread_barrier_t all_here;

static void *work(void *unused)
{
	void *blocks[BLOCKS];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < BLOCKS; i++)
			blocks[i] = tgt_malloc(16 + i);
		for (int i = 0; i < BLOCKS; i++)
			tgt_free(blocks[i], 16 + i);
	}
	pthread_barrier_wait(&all_here);
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;

	pthread_barrier_init(&all_here, NULL, count + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, work, NULL))
			return 1;
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	tgt_report();
	return 0;
}
