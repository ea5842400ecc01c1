/*
 * own_libc.c: the C library's allocator by its other names, if it has them;
 * blocks made by one name and ended by another.
 */
#include <errno.h>
#include <malloc.h>

#include "tgt.h"

#define WEAK __attribute__((weak))

extern void *__libc_malloc(size_t size) WEAK;
extern void *__libc_calloc(size_t count, size_t size) WEAK;
extern void *__libc_realloc(void *block, size_t size) WEAK;
extern void *__libc_memalign(size_t alignment, size_t size) WEAK;
extern void *__libc_valloc(size_t size) WEAK;
extern void *__libc_pvalloc(size_t size) WEAK;
extern int __posix_memalign(void **block, size_t alignment,
			    size_t size) WEAK;
extern void __libc_free(void *block) WEAK;
extern void __libc_cfree(void *block) WEAK;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void *shown(void *p, size_t size)
{
	tgt_made(p, size);
	tgt_print("usable", malloc_usable_size(p));
	return p;
}

static void tgt_blocks(size_t size)
{
	void *p = shown(__libc_malloc(size), size);

	p = shown(__libc_realloc(p, 2 * size), 2 * size);
	p = shown(realloc(p, 3 * size), 3 * size);
	p = shown(__libc_realloc(p, 4 * size), 4 * size);
	tgt_print("refused", __libc_realloc(p, (size_t)1 << 62) == NULL);
	free(p);
	__libc_free(shown(malloc(size), size));
	free(shown(__libc_calloc(2, size), 2 * size));
	__libc_free(shown(__libc_memalign(64, size), size));
	for (int i = 1; i < 5; i++)
		ended(i * size);
	ended(size);
	ended(2 * size);
	ended(size);
	if (__libc_valloc && __libc_pvalloc) {
		__libc_free(shown(__libc_valloc(size), size));
		__libc_free(shown(__libc_pvalloc(size), size));
		ended(size);
		ended(size);
	}
	/* glibc has these no more */
	if (__posix_memalign && __libc_cfree) {
		tgt_print("err", __posix_memalign(&p, 64, size));
		__libc_cfree(shown(p, size));
		ended(size);
	}
	errno = 4711;
	__libc_free(NULL);
	tgt_print("errno", errno);
	/* ended by a realloc */
	p = shown(__libc_malloc(size), size);
	tgt_print("gone", __libc_realloc(p, 0) == NULL);
	ended(size);
}

int main(void)
{
	if (!__libc_malloc || !__libc_free || !__libc_memalign) {
		tgt_write("the C library has no such names\n");
		return 3;
	}
	for (size_t size = 1; size < 1000000; size = size * 3 + 1)
		tgt_blocks(size);
	tgt_report();
	return 0;
}
