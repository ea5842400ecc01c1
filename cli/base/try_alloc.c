/*
 * try_alloc.c: see try_alloc.h. Any thread.
 */
#include "cli/base/try_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unwind/base/assertion.h"

#define CACHE_LINE ((size_t)64)
#define LARGE_PAGE ((size_t)2 << 20)

void *try_alloc_resize(void *old, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return NULL;
	return realloc(old, count > 0 && size > 0 ? count * size : 1);
}

void *try_alloc_lines(void *old, size_t used, size_t size)
{
	size_t unit = size >= LARGE_PAGE ? LARGE_PAGE : CACHE_LINE;
	void *p = NULL;

	/* not aligned_alloc: some allocators that may replace libc's lack it */
	if (size > SIZE_MAX - unit ||
	    posix_memalign(&p, unit, (size + unit - 1) & ~(unit - 1)) != 0)
		return NULL;
	/* Without large pages, small ones do. */
	if (unit == LARGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);
	if (used > 0)
		memcpy(p, old, used);
	free(old);
	return p;
}

/* Bytes that an allocation of this size takes. */
static size_t whole(size_t size)
{
	return size >= LARGE_PAGE ? (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1) :
				    size;
}

/* Reserves addresses, aligned to a large page. */
static char *reserve(size_t size)
{
	char *p = mmap(NULL, size + LARGE_PAGE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before = -(uintptr_t)p & (LARGE_PAGE - 1);

	if (p == MAP_FAILED)
		return NULL;
	if (before > 0)
		munmap(p, before);
	munmap(p + before + size, LARGE_PAGE - before);
	return p + before;
}

/* Moves the page tables to another address with the same alignment. */
static void *move_large(void *old, size_t old_size, size_t size)
{
	char *place = reserve(size);
	void *p;

	if (place == NULL)
		return MAP_FAILED;
	p = old != NULL ?
		    mremap(old, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			   place) :
		    mmap(place, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		munmap(place, size);
	return p;
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not know mremap: it mistakes the pages for those of a
 * thread that had the addresses before. */
static void *copy(void *old, size_t old_size, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || old == NULL)
		return p;
	memcpy(p, old, old_size < size ? old_size : size);
	munmap(old, old_size);
	return p;
}
#endif

void *try_alloc_pages(void *old, size_t old_size, size_t size)
{
	void *p = MAP_FAILED;

	if (size > SIZE_MAX / 2)
		return NULL;
	DEBUG_ASSERT((old == NULL) == (old_size == 0));
	old_size = whole(old_size);
	size = whole(size);
#ifdef __SANITIZE_THREAD__
	p = copy(old, old_size, size);
	return p == MAP_FAILED ? NULL : p;
#endif
	if (size >= LARGE_PAGE) {
		if (old_size >= LARGE_PAGE)
			p = mremap(old, old_size, size, 0);
		if (p == MAP_FAILED)
			p = move_large(old, old_size, size);
		/* Without large pages, small ones do. */
		if (p != MAP_FAILED)
			madvise(p, size, MADV_HUGEPAGE);
	} else if (old != NULL) {
		p = mremap(old, old_size, size, MREMAP_MAYMOVE);
	} else {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	return p == MAP_FAILED ? NULL : p;
}

void try_alloc_pages_free(void *old, size_t size)
{
	if (old != NULL)
		munmap(old, whole(size));
}
