/*
 * libmalloc_reentry.c: an allocator whose functions call each other by name, so
 * that a profiler in front of it is entered again: malloc calls calloc or
 * memalign, those call others, and the last ones the C library's other names.
 * In the middle of malloc it calls a callback of the program.
 *
 * The library also has functions that are not an allocator's, which allocate as
 * any other code does.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

void (*back_callback)(void);

void *malloc(size_t size)
{
	static __thread unsigned calls;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	munmap(page, 4096);
	if (back_callback)
		back_callback();
	return ++calls % 2 ? calloc(1, size) : memalign(16, size);
}

void *calloc(size_t count, size_t size)
{
	size_t all;
	void *block;

	if (__builtin_mul_overflow(count, size, &all))
		return NULL;
	block = valloc(all);
	if (block)
		memset(block, 0, all);
	return block;
}

void *realloc(void *old, size_t size)
{
	size_t had = malloc_usable_size(old);
	void *block = malloc(size);

	if (block && old)
		memcpy(block, old, had < size ? had : size);
	if (block)
		free(old);
	return block;
}

void free(void *block)
{
	__libc_free(block);
}

void *memalign(size_t alignment, size_t size)
{
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *block;

	return posix_memalign(&block, alignment, size) ? NULL : block;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}

void *valloc(size_t size)
{
	return memalign(4096, size);
}

void *back_thing(size_t size)
{
	return malloc(size);
}

void *back_other(size_t size)
{
	return __libc_malloc(size);
}

void back_ended(void *block)
{
	free(block);
}

void back_handler(int number)
{
	(void)number;
	free(malloc(77));
}
