/*
 * deep_binding.c PATH: opens libdeep.so with RTLD_DEEPBIND, so that it finds
 * the C library's functions first, and passes blocks to and fro. Then it calls
 * malloc and free as dlsym finds them with the C library's own handle.
 */
#include <dlfcn.h>

#include "tgt.h"

#define ROUNDS 1000
#define SIZE 64

static void *(*make)(size_t size);
static void (*drop)(void *block, size_t size);
static void *(*grow)(void *block, size_t old_size, size_t size);
static void (*counts)(struct tgt_counts *counts);
static void *(*libc_malloc)(size_t size);
static void (*libc_free)(void *block);

TGT_FUNCTION void tgt_by_handle(int leave)
{
	void *block = libc_malloc(SIZE);

	tgt_made(block, SIZE);
	if (leave)
		return;
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, SIZE);
	libc_free(block);
}

static int find(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
	void *libc = dlopen("libc.so.6", RTLD_LAZY);

	if (!library || !libc)
		return 0;
	make = dlsym(library, "deep_make");
	drop = dlsym(library, "deep_drop");
	grow = dlsym(library, "deep_grow");
	counts = dlsym(library, "deep_counts");
	libc_malloc = dlsym(libc, "malloc");
	libc_free = dlsym(libc, "free");
	return make && drop && grow && counts && libc_malloc && libc_free;
}

int main(int argc, char **argv)
{
	struct tgt_counts others;

	if (argc < 2 || !find(argv[1]))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		void *mine = tgt_malloc(SIZE), *its = make(SIZE);

		mine = grow(mine, SIZE, 2 * SIZE);
		drop(mine, 2 * SIZE);
		if (i % 10)
			tgt_free(its, SIZE);
		tgt_by_handle(i % 100 == 0);
	}
	counts(&others);
	tgt_counts.allocations += others.allocations;
	tgt_counts.frees += others.frees;
	tgt_counts.total_bytes += others.total_bytes;
	tgt_counts.freed_bytes += others.freed_bytes;
	tgt_report();
	return 0;
}
