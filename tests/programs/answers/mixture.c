// FLAGS: -pthread
/*
 * mixture.c [WAY]: a mixture of everything, to run together with other tools.
 * WAY: "misuse" reads a freed block, "race" makes two threads write to one
 * variable; sanitizers must find both.
 */
#include <pthread.h>

#include "tgt.h"

#define THREADS 4
#define ROUNDS 200

static int place;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *p = tgt_malloc(20 + i);
		void *q = tgt_calloc(3, 10 + i);

		p = tgt_realloc(p, 20 + i, 50 + 2 * i);
		if (i % 5)
			tgt_free(p, 50 + 2 * i);
		tgt_free(q, 3 * (10 + i));
	}
	return unused;
}

static void *write_place(void *unused)
{
	place++;
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, function, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static int misuse(void)
{
	volatile char *block = tgt_malloc(100);

	block[0] = 1;
	tgt_free((void *)block, 100);
	return block[0];
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	run(work);
	if (!strcmp(way, "race"))
		run(write_place);
	tgt_report();
	if (!strcmp(way, "misuse"))
		return misuse();
	return 7;
}
