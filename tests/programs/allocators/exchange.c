// FLAGS: -pthread
/*
 * exchange.c THREADS ROUNDS: threads that exchange blocks all the time: chance
 * decides which thread allocates, reallocates or frees the block in a slot, so
 * few blocks end in the thread that made them. One lock orders them.
 */
#include <pthread.h>

#include "tgt.h"

#define SLOTS 4096
#define THREADS_MAX 16

static struct {
	void *at;
	size_t size;
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long rounds;

static void turn(unsigned slot, size_t size, unsigned long round)
{
	if (!slots[slot].at) {
		slots[slot].at = tgt_malloc(size);
	} else if (round % 4 == 0) {
		slots[slot].at = tgt_realloc(slots[slot].at, slots[slot].size,
					     size);
	} else {
		tgt_free(slots[slot].at, slots[slot].size);
		slots[slot].at = NULL;
	}
	slots[slot].size = size;
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		seed = seed * 1664525u + 1013904223u;
		pthread_mutex_lock(&lock);
		turn((seed >> 8) % SLOTS, 1 + (seed >> 20) % 300, i);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 6, i;
	pthread_t thread[THREADS_MAX];

	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 50000;
	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	for (i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work,
			       (void *)(uintptr_t)(7 * i + 1));
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	return 0;
}
