// FLAGS: -Wno-alloc-size-larger-than -Wno-use-after-free
/*
 * entry_points.c: calls every allocation function with ordinary and with
 * unusual arguments. Prints results, alignment and errno of each call, so that
 * the output with recording can be compared with the output without it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>

#include "tgt.h"

#define ERRNO_BEFORE 4711

static bool aligned(const void *p, size_t alignment)
{
	return (uintptr_t)p % alignment == 0;
}

/* One line for one call: null or not, alignment, errno; then uses the block
 * up to its last usable byte and frees it. */
static void show(const char *call, void *p, size_t alignment, size_t size)
{
	char line[200];
	int error = errno;

	snprintf(line, sizeof(line), "%s: %s aligned %d errno %d usable %zu\n",
		 call, p ? "block" : "null", p ? aligned(p, alignment) : -1,
		 error, p ? malloc_usable_size(p) : 0);
	tgt_write(line);
	if (p) {
		TGT_ADD(tgt_counts.allocations, 1);
		TGT_ADD(tgt_counts.total_bytes, size);
		memset(p, 0x5a, malloc_usable_size(p));
		errno = ERRNO_BEFORE;
		free(p);
		if (errno != ERRNO_BEFORE)
			tgt_write("free changed errno\n");
		TGT_ADD(tgt_counts.frees, 1);
		TGT_ADD(tgt_counts.freed_bytes, size);
	}
}

#define SHOW(call, alignment, size) \
	do { \
		errno = ERRNO_BEFORE; \
		show(#call, call, alignment, size); \
	} while (0)

static volatile size_t zero, huge = SIZE_MAX / 2, half = SIZE_MAX / 2 + 2;

static void tgt_plain(void)
{
	SHOW(malloc(0), 16, 0);
	SHOW(malloc(1), 16, 1);
	SHOW(malloc(100000), 16, 100000);
	SHOW(malloc(1 << 22), 16, 1 << 22);
	SHOW(malloc(huge), 16, 0);
	SHOW(malloc(SIZE_MAX), 16, 0);
	SHOW(calloc(10, 30), 16, 300);
	SHOW(calloc(zero, 30), 16, 0);
	SHOW(calloc(30, zero), 16, 0);
	SHOW(calloc(half, 2), 16, 0);
	SHOW(calloc(huge, 4), 16, 0);
	SHOW(realloc(NULL, 55), 16, 55);
	SHOW(realloc(NULL, zero), 16, 0);
	SHOW(realloc(NULL, huge), 16, 0);
	SHOW(reallocarray(NULL, 5, 7), 16, 35);
	SHOW(reallocarray(NULL, half, 2), 16, 0);
	errno = ERRNO_BEFORE;
	free(NULL);
	if (errno != ERRNO_BEFORE)
		tgt_write("free(NULL) changed errno\n");
}

static void *posix(size_t alignment, size_t size)
{
	void *p = (void *)0x1234;
	int result = posix_memalign(&p, alignment, size);

	if (result == 0)
		return p;
	tgt_print("posix_memalign result", result);
	if (p != (void *)0x1234)
		tgt_write("posix_memalign changed the pointer\n");
	return NULL;
}

static void tgt_aligned(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	SHOW(posix(64, 100), 64, 100);
	SHOW(posix(1 << 16, 10), 1 << 16, 10);
	SHOW(posix(8, zero), 8, 0);
	SHOW(posix(3, 100), 1, 0);
	SHOW(posix(4, 100), 1, 0);
	SHOW(posix(zero, 100), 1, 0);
	SHOW(posix(24, 100), 1, 0);
	SHOW(posix(64, huge), 1, 0);
	SHOW(memalign(256, 33), 256, 33);
	SHOW(memalign(48, 33), 16, 33);
	SHOW(memalign(zero, 33), 16, 33);
	SHOW(memalign(64, huge), 64, 0);
	SHOW(aligned_alloc(128, 256), 128, 256);
	SHOW(aligned_alloc(128, 100), 128, 100);
	SHOW(aligned_alloc(64, huge), 64, 0);
	SHOW(valloc(10), page, 10);
	SHOW(valloc(huge), page, 0);
	SHOW(pvalloc(page + 1), page, page + 1);
	SHOW(pvalloc(huge), page, 0);
}

/* In newer C libraries only, or older ones. Not found by tgt_*: what is not
 * there costs dlsym some blocks. */
static void (*sized)(void *, size_t);
static void (*both)(void *, size_t, size_t);
static void (*old)(void *);

static void find_sized(void)
{
	sized = dlsym(RTLD_DEFAULT, "free_sized");
	both = dlsym(RTLD_DEFAULT, "free_aligned_sized");
	old = dlsym(RTLD_DEFAULT, "cfree");
	tgt_print("has free_sized", sized != NULL);
	tgt_print("has free_aligned_sized", both != NULL);
	tgt_print("has cfree", old != NULL);
}

static void tgt_sized(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = tgt_malloc(100 + i);

		errno = ERRNO_BEFORE;
		if (i == 0 && sized)
			sized(p, 100);
		else if (i == 1 && both)
			both(p, 16, 101);
		else if (i == 2 && old)
			old(p);
		else
			free(p);
		TGT_ADD(tgt_counts.frees, 1);
		TGT_ADD(tgt_counts.freed_bytes, 100 + i);
	}
}

/* realloc's own odd cases, with the block kept or freed. */
static void tgt_realloc_cases(void)
{
	char *p = tgt_malloc(1000), *q;

	memset(p, 'x', 1000);
	p = tgt_realloc(p, 1000, 500000);
	for (int i = 0; i < 1000; i++)
		if (p[i] != 'x')
			tgt_write("realloc lost a byte\n");
	errno = ERRNO_BEFORE;
	q = realloc(p, huge);
	tgt_print("refused realloc is null", q == NULL);
	tgt_print("errno", errno);
	errno = ERRNO_BEFORE;
	q = reallocarray(p, half, 2);
	tgt_print("refused reallocarray is null", q == NULL);
	tgt_print("errno", errno);
	errno = ERRNO_BEFORE;
	q = realloc(p, zero);
	tgt_print("realloc to nothing is null", q == NULL);
	tgt_print("errno", errno);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, 500000);
	if (q) {	/* not so in glibc */
		tgt_made(q, 0);
		tgt_free(q, 0);
	}
}

int main(void)
{
	tgt_plain();
	tgt_aligned();
	find_sized();
	tgt_sized();
	tgt_realloc_cases();
	tgt_report();
	return 0;
}
