// FLAGS: -pthread
/*
 * mixed_lifetimes.c ROUNDS [THREADS]: blocks of many lifetimes: most are freed
 * at once, some later, some by another thread, some are reallocated or stay.
 * The arguments alone determine the blocks, so two runs make the same ones;
 * with more than one thread their order varies. With 0 threads: one block at a
 * time stays, while ROUNDS others are allocated and freed.
 */
#include <pthread.h>

#include "tgt.h"

#define KEPT 500
#define THREADS_MAX 16

struct kept {
	void *at;
	size_t size;
};

struct worker {
	pthread_t thread;
	unsigned seed;
	unsigned long rounds;
	struct kept kept[KEPT];
};

static struct worker workers[THREADS_MAX];

static unsigned draw(struct worker *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return w->seed >> 8;
}

static __attribute__((noinline)) void *make_short(size_t size)
{
	return tgt_malloc(size);
}

static __attribute__((noinline)) void *make_long(size_t size)
{
	return tgt_malloc(size);
}

static void replace(struct worker *w)
{
	struct kept *kept = &w->kept[draw(w) % KEPT];

	if (kept->at)
		tgt_free(kept->at, kept->size);
	kept->size = 16 + draw(w) % 2000;
	kept->at = make_long(kept->size);
}

static void move(struct worker *w)
{
	struct kept *kept = &w->kept[draw(w) % KEPT];
	size_t size = 16 + draw(w) % 3000;

	if (!kept->at)
		return;
	kept->at = tgt_realloc(kept->at, kept->size, size);
	kept->size = size;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	unsigned long i;

	for (i = 0; i < w->rounds; i++) {
		size_t size = 1 + draw(w) % 300;
		void *p = make_short(size), *q;

		if (draw(w) % 8 == 0)
			replace(w);
		if (draw(w) % 16 == 0)
			move(w);
		if (draw(w) % 4 == 0) {
			q = make_short(2 * size);
			q = tgt_realloc(q, 2 * size, 5 * size);
			tgt_free(q, 5 * size);
		}
		tgt_free(p, size);
	}
	return NULL;
}

static void one_stays(unsigned long rounds)
{
	unsigned long i;
	int k;

	for (k = 0; k < 10; k++) {
		void *kept = make_long(1000);

		for (i = 0; i < rounds; i++)
			tgt_free(make_short(10), 10);
		tgt_free(kept, 1000);
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	int threads = argc > 2 ? atoi(argv[2]) : 1, i;

	for (i = 0; i < threads && i < THREADS_MAX; i++) {
		workers[i].seed = 7 * i + 1;
		workers[i].rounds = rounds;
	}
	if (threads == 0)
		one_stays(rounds);
	if (threads == 1)
		work(&workers[0]);
	for (i = 0; i < threads && i < THREADS_MAX && threads > 1; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (i = 0; i < threads && i < THREADS_MAX && threads > 1; i++)
		pthread_join(workers[i].thread, NULL);
	tgt_report();
	return 0;
}
