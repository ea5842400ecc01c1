// CC: musl-gcc
// FLAGS: -pthread
/*
 * musl.c: a program of another C library, with threads and odd requests.
 */
#include <pthread.h>

#include "tgt.h"

#define THREADS 4
#define BLOCKS 1000

static void *work(void *argument)
{
	(void)argument;
	for (int i = 0; i < BLOCKS; i++) {
		void *p = tgt_malloc(30 + i);

		p = tgt_realloc(p, 30 + i, 60 + i);
		if (i % 4)
			tgt_free(p, 60 + i);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	return 0;
}
