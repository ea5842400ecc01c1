// FLAGS: -pthread
/*
 * crossfree.c: four threads free the blocks of four others as soon as they
 * exist, so that addresses return at once to another thread: the order of an
 * address's events must be found across rings.
 */
#include <pthread.h>
#include <sched.h>

#include "tgt.h"

#define PAIRS 4
#define BLOCKS 50000
#define SLOTS 64

/* One producer, one consumer; the acquire load of a slot pairs with the
 * release store of the other side. */
struct queue {
	void *slot[SLOTS];
};
static struct queue queues[PAIRS];

static size_t size_of(int i)
{
	return 32 + i % 3 * 16;
}

static void *produce(void *argument)
{
	struct queue *queue = argument;

	for (int i = 0; i < BLOCKS; i++) {
		void **slot = &queue->slot[i % SLOTS];
		void *p = tgt_malloc(size_of(i));

		while (__atomic_load_n(slot, __ATOMIC_ACQUIRE))
			sched_yield();
		__atomic_store_n(slot, p, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Keeps every 1000th block. */
static void *consume(void *argument)
{
	struct queue *queue = argument;

	for (int i = 0; i < BLOCKS; i++) {
		void **slot = &queue->slot[i % SLOTS], *p;

		while (!(p = __atomic_load_n(slot, __ATOMIC_ACQUIRE)))
			sched_yield();
		__atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
		if (i % 1000)
			tgt_free(p, size_of(i));
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[PAIRS * 2];

	for (int i = 0; i < PAIRS; i++) {
		pthread_create(&thread[2 * i], NULL, produce, &queues[i]);
		pthread_create(&thread[2 * i + 1], NULL, consume, &queues[i]);
	}
	for (int i = 0; i < PAIRS * 2; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	return 0;
}
