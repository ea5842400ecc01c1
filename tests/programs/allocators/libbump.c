/*
 * libbump.c: an allocator that a signal handler may enter, and siglongjmp may
 * leave, at any moment: one atomic addition takes a piece of a large mapping,
 * and nothing is freed. Linked behind the profiler it is the "real" allocator
 * of the signal tests, where the C library's would rightly deadlock.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define BUMP_SIZE ((size_t)1 << (sizeof(size_t) == 8 ? 33 : 30))
#define BUMP_HEADER 16

/* 0 until the first call has made the mapping; pairs with itself: whoever
 * stores first wins, the loser unmaps. */
static uintptr_t bump_base;
static size_t bump_used;

static uintptr_t bump_start(void)
{
	uintptr_t base = __atomic_load_n(&bump_base, __ATOMIC_ACQUIRE);
	uintptr_t none = 0;
	void *map;

	if (base)
		return base;
	map = mmap(NULL, BUMP_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return 0;
	if (!__atomic_compare_exchange_n(&bump_base, &none, (uintptr_t)map, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(map, BUMP_SIZE);
		return none;
	}
	return (uintptr_t)map;
}

/* A block with its size in front of it. */
static void *bump_take(size_t alignment, size_t size)
{
	uintptr_t base = bump_start(), p;
	size_t room, at;

	if (!base || size > BUMP_SIZE / 2) {
		errno = ENOMEM;
		return NULL;
	}
	if (alignment < 16)
		alignment = 16;
	room = BUMP_HEADER + alignment + ((size + 15) & ~(size_t)15);
	at = __atomic_fetch_add(&bump_used, room, __ATOMIC_RELAXED);
	if (at + room > BUMP_SIZE) {
		errno = ENOMEM;
		return NULL;
	}
	p = (base + at + BUMP_HEADER + alignment - 1) & ~(alignment - 1);
	((size_t *)p)[-1] = size;
	return (void *)p;
}

void *malloc(size_t size)
{
	return bump_take(16, size);
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return bump_take(16, total);
}

void *realloc(void *old, size_t size)
{
	void *p = bump_take(16, size);
	size_t had;

	if (p && old) {
		had = ((size_t *)old)[-1];
		memcpy(p, old, had < size ? had : size);
	}
	return p;
}

void *memalign(size_t alignment, size_t size)
{
	return bump_take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return bump_take(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	void *block = bump_take(alignment, size);

	if (!block)
		return ENOMEM;
	*p = block;
	return 0;
}
