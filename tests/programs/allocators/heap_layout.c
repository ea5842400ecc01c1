// FLAGS: -pthread
/*
 * heap_layout.c: blocks of all kinds in the main arena, in another one, and in
 * mappings of their own; prints for each how many of them are live, the
 * requested bytes, and the sum of malloc_usable_size.
 */
#include <malloc.h>
#include <pthread.h>

#include "tgt.h"

enum { MAIN, OTHER, MMAPPED, PARTS };

#define BLOCKS 4000

static struct {
	size_t blocks, bytes, usable;
} parts[PARTS];

static void *kept[BLOCKS];
static unsigned count;

static void keep(unsigned part, void *p, size_t size)
{
	if (!p)
		abort();
	kept[count++] = p;
	parts[part].blocks++;
	parts[part].bytes += size;
	parts[part].usable += malloc_usable_size(p);
}

static void *aligned(size_t alignment, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, alignment, size))
		abort();
	return p;
}

static void *elsewhere(void *argument)
{
	size_t i;

	(void)argument;
	for (i = 0; i < 500; i++)
		keep(OTHER, malloc(3 * i), 3 * i);
	keep(OTHER, aligned(1024, 700), 700);
	return NULL;
}

/* The remainder would be too small for a chunk of its own, so the block keeps
 * more than a block of its size has. */
static void *shrunk(size_t from, size_t to)
{
	void *p = malloc(from);

	return p ? realloc(p, to) : NULL;
}

int main(void)
{
	static const char *const names[PARTS] = { "main", "other", "mmapped" };
	pthread_t thread;
	size_t i;

	for (i = 0; i < 2000; i++)
		keep(MAIN, malloc(i), i);
	for (i = 0; i < 100; i++)
		keep(MAIN, calloc(i, 7), 7 * i);
	for (i = 16; i <= 4096; i *= 2)
		keep(MAIN, aligned(i, 3 * i), 3 * i);
	for (i = 1; i < 64; i++)
		keep(MAIN, shrunk(5000, 5000 - i), 5000 - i);
	if (pthread_create(&thread, NULL, elsewhere, NULL) ||
	    pthread_join(thread, NULL))
		return 1;
	for (i = 0; i < 20; i++)
		keep(MMAPPED, malloc(200000 + 4001 * i), 200000 + 4001 * i);
	keep(MMAPPED, aligned(8192, 300000), 300000);
	keep(MMAPPED, realloc(malloc(200000), 900000), 900000);
	for (i = 0; i < PARTS; i++) {
		dprintf(1, "%s_blocks %zu\n", names[i], parts[i].blocks);
		dprintf(1, "%s_bytes %zu\n", names[i], parts[i].bytes);
		dprintf(1, "%s_usable_bytes %zu\n", names[i],
			parts[i].usable);
	}
	_exit(0);
}
