// FLAGS: -pthread
/*
 * libearly.c: runs before the program: its constructor starts threads, and so
 * does its destructor. The program has early_use, which counts.
 */
#include <pthread.h>
#include <stdlib.h>

#define THREADS 3

void early_use(int blocks) __attribute__((weak));

static pthread_t thread[THREADS];

static void *work(void *argument)
{
	if (early_use)
		early_use(argument ? 30 : 10);
	return argument;
}

static void start(void *argument)
{
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, argument))
			abort();
}

/* Waits for none: they go on beside the program's own constructors. */
__attribute__((constructor)) static void early_begin(void)
{
	start(thread);
}

void early_wait(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

__attribute__((destructor)) static void early_end(void)
{
	start(NULL);
	early_wait();
}
