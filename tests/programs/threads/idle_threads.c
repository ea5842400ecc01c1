// FLAGS: -pthread
/*
 * idle_threads.c THREADS [ROUNDS [KINDS]]: the main thread and THREADS others
 * allocate a little, from KINDS different stacks, ROUNDS times, write "ready",
 * and wait until standard input ends.
 */
#include <pthread.h>

#include "branches.h"
#include "tgt.h"

#define STACK (64 << 10)
#define BLOCKS 20

static pthread_barrier_t all_here, over;
static unsigned rounds = 3, kinds = 1;

static void at_the_end(void)
{
	void *held[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		held[i] = tgt_malloc(16 + i);
	for (int i = 0; i < BLOCKS; i++)
		tgt_free(held[i], 16 + i);
}

static void *work(void *argument)
{
	for (unsigned i = 0; i < rounds; i++)
		path(i % kinds);
	pthread_barrier_wait(&all_here);
	pthread_barrier_wait(&over);
	return argument;
}

static unsigned number(int argc, char **argv, int i, unsigned otherwise)
{
	return i < argc ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	unsigned count = number(argc, argv, 1, 0), i;
	pthread_t *threads = calloc(count + 1, sizeof(*threads));
	pthread_attr_t attributes;
	char byte;

	rounds = number(argc, argv, 2, rounds);
	kinds = number(argc, argv, 3, kinds);
	pthread_barrier_init(&all_here, NULL, count + 1);
	pthread_barrier_init(&over, NULL, count + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, work, NULL))
			return 1;
	path(0);
	pthread_barrier_wait(&all_here);
	tgt_write("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	pthread_barrier_wait(&over);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	tgt_report();
	return 0;
}
