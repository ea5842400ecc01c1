/*
 * tuned.c: tunes its allocator with mallopt, and requests memory to be trimmed.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>

#include "tgt.h"

static void *work(void *argument)
{
	(void)argument;
	errno = 4711;
	tgt_print("mallopt", mallopt(M_ARENA_MAX, 3));
	tgt_print("errno", errno);
	return NULL;
}

static void tgt_tune(void)
{
	tgt_print("mallopt", mallopt(M_MMAP_THRESHOLD, 1 << 20));
	tgt_print("mallopt", mallopt(M_MMAP_THRESHOLD, -1));
	tgt_print("mallopt", mallopt(4711, -5));
	tgt_free(tgt_malloc(100000), 100000);
	tgt_print("malloc_trim", malloc_trim(0));
	tgt_print("malloc_trim", malloc_trim((size_t)1 << 40));
}

int main(void)
{
	pthread_t thread;

	tgt_tune();
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	tgt_report();
	return 0;
}
