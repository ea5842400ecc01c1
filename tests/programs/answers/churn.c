/*
 * churn.c BLOCKS [close]: makes and frees BLOCKS blocks, with always new
 * stacks, so that the trace grows; keeps every 16th. With "close" it first
 * closes every descriptor but standard output.
 */
#include "tgt.h"

static void *spread(unsigned seed, int depth)
{
	void *p;

	if (depth == 0)
		return tgt_malloc(16 + (seed & 1023));
	if (seed >> depth & 1)
		p = spread(seed, depth - 1);
	else
		p = spread(seed, depth - 1);
	tgt_sink = p;
	return p;
}

int main(int argc, char **argv)
{
	unsigned long blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	unsigned seed = 42;

	if (argc > 2)
		for (int fd = 0; fd < 4096; fd++)
			if (fd != STDOUT_FILENO)
				close(fd);
	for (unsigned long i = 0; i < blocks; i++) {
		void *p;

		seed = seed * 1664525u + 1013904223u;
		p = spread(seed >> 8, 12);
		if (i % 16)
			tgt_free(p, 16 + (seed >> 8 & 1023));
	}
	tgt_report();
	return 0;
}
