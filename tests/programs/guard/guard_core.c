/*
 * guard_core.c [abort]: allocates blocks of many sizes and alignments, in turn
 * by two functions, frees some, prints "block ADDRESS SIZE MAKER" for the live
 * ones, then "ready", and waits to be ended (or aborts).
 */
// FLAGS: -no-pie
#include <malloc.h>

#include "tgt.h"

#define BLOCKS 300

static void *blocks[BLOCKS];

TGT_FUNCTION void *small_maker(size_t size)
{
	void *p = malloc(size);

	tgt_sink = p;
	return p;
}

TGT_FUNCTION void *large_maker(size_t size)
{
	void *p = memalign((size_t)32 << size % 9, size);

	tgt_sink = p;
	return p;
}

int main(int argc, char **argv)
{
	static char buffer[65536];
	unsigned i;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (i = 0; i < BLOCKS; i++) {
		size_t size = i * i % 5000 + i / 50 * 40000;

		blocks[i] = i % 2 ? small_maker(size) : large_maker(size);
		memset(blocks[i], 0x5a, size);
		if (i % 5 == 0) {
			free(blocks[i]);
			continue;
		}
		printf("block %lx %zu %s\n", (long)blocks[i], size,
		       i % 2 ? "small_maker" : "large_maker");
	}
	printf("ready\n");
	fflush(stdout);
	if (argc == 2 && strcmp(argv[1], "abort") == 0)
		abort();
	pause();
	return 0;
}
