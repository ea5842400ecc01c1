// FLAGS: -pthread
/*
 * storm.c THREADS AT_ONCE [MS]: THREADS short threads in all, AT_ONCE at a
 * time. Each allocates; one in sixteen leaves a block, which a thread of the
 * next round frees. The process outlives the last of them by MS milliseconds.
 */
#include <pthread.h>

#include "tgt.h"

#define AT_ONCE_MAX 64
#define SIZE 40

static void *left[AT_ONCE_MAX];

static void *work(void *argument)
{
	size_t i = (uintptr_t)argument;

	tgt_free(tgt_malloc(SIZE), SIZE);
	if (left[i]) {
		tgt_free(left[i], SIZE);
		left[i] = NULL;
	} else if (i % 16 == 0) {
		left[i] = tgt_malloc(SIZE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? atoi(argv[1]) : 1000;
	unsigned at_once = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[AT_ONCE_MAX];

	for (unsigned done = 0; done < threads; done += at_once) {
		for (size_t i = 0; i < at_once; i++)
			if (pthread_create(&thread[i], NULL, work, (void *)i))
				return 1;
		for (size_t i = 0; i < at_once; i++)
			pthread_join(thread[i], NULL);
	}
	if (argc > 3)
		usleep(atoi(argv[3]) * 1000);
	tgt_report();
	return 0;
}
