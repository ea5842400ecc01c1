/*
 * realloc_chain.c: realloc chains: grown in place and moved, shrunk, begun
 * with NULL, ended with size 0, and refused for lack of memory. Other blocks
 * are allocated in between, so that growth has to move.
 */
#include <errno.h>

#include "tgt.h"

#define CHAINS 200

static void *grow(void)
{
	size_t size = 1 << 4;
	void *p = tgt_realloc(NULL, 0, size);

	for (; size < 1 << 20; size *= 2) {
		void *wall = tgt_malloc(24);

		p = tgt_realloc(p, size, size * 2);
		tgt_free(wall, 24);
	}
	return p;
}

static void *shrink(void *p)
{
	size_t size = 1 << 20;

	for (; size > 1; size /= 4)
		p = tgt_realloc(p, size, size / 4);
	return p;
}

/* More than there can be: the old block lives on. */
static void refuse(void *p)
{
	volatile size_t huge = SIZE_MAX / 2;
	void *q;

	errno = 0;
	q = realloc(p, huge);
	if (q || errno != ENOMEM)
		abort();
}

/* Frees the block and makes none. */
TGT_FUNCTION void tgt_realloc_to_nothing(void *p, size_t size)
{
	volatile size_t zero = 0;
	void *q = realloc(p, zero);

	if (q)
		abort();
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

int main(void)
{
	for (int i = 0; i < CHAINS; i++) {
		void *p = grow();

		refuse(p);
		p = shrink(p);
		refuse(p);
		if (i % 2)
			tgt_realloc_to_nothing(p, 1);
		else if (i % 4)
			tgt_free(p, 1);
	}
	tgt_report();
	return 0;
}
