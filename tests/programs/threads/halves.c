// FLAGS: -pthread -D_GNU_SOURCE
/*
 * halves.c: allocates half of its blocks, prints its numbers, reads a line from
 * standard input, allocates the other half, and prints its numbers again. After
 * the first numbers it can be queried, or killed, with no event pending.
 */
#include <pthread.h>

#include "tgt.h"

#define HALF 200

static void *kept[2 * HALF];

static size_t size_of(int i)
{
	return 24 + (size_t)i % 50 * 8;
}

/* Every fourth stays. */
static __attribute__((noinline)) void half(int from)
{
	for (int i = from; i < from + HALF; i++)
		kept[i] = tgt_malloc(size_of(i));
	for (int i = from; i < from + HALF; i++)
		if (i % 4)
			tgt_free(kept[i], size_of(i));
}

int main(void)
{
	char line[8];

	pthread_setname_np(pthread_self(), "by halves");
	half(0);
	tgt_report();
	while (read(STDIN_FILENO, line, sizeof(line)) < 0)
		;
	half(HALF);
	tgt_report();
	return 0;
}
