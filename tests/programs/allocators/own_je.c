/*
 * own_je.c: jemalloc's own functions, if present: the allocator is preloaded,
 * or linked (own_je_linked.c). Prints their results.
 */
#include <errno.h>
#include <stdbool.h>

#include "tgt.h"

#define WEAK __attribute__((weak))
#define ALIGN(bits) (bits)	/* MALLOCX_LG_ALIGN */
#define ZERO 0x40		/* MALLOCX_ZERO */

extern void *mallocx(size_t size, int flags) WEAK;
extern void *rallocx(void *block, size_t size, int flags) WEAK;
extern size_t xallocx(void *block, size_t size, size_t extra, int flags) WEAK;
extern size_t sallocx(const void *block, int flags) WEAK;
extern void dallocx(void *block, int flags) WEAK;
extern void sdallocx(void *block, size_t size, int flags) WEAK;
extern size_t nallocx(size_t size, int flags) WEAK;
extern int mallctl(const char *name, void *old, size_t *old_size, void *new,
		   size_t new_size) WEAK;
extern int mallctlnametomib(const char *name, size_t *mib, size_t *n) WEAK;
extern int mallctlbymib(const size_t *mib, size_t n, void *old,
			size_t *old_size, void *new, size_t new_size) WEAK;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void tgt_blocks(size_t size)
{
	char *p = mallocx(size, 0), *q = mallocx(size, ALIGN(8) | ZERO);

	tgt_made(p, size);
	tgt_made(q, size);
	tgt_print("usable", sallocx(p, 0));
	tgt_print("aligned", (uintptr_t)q % 256 == 0 && q[size - 1] == 0);
	p = rallocx(p, 3 * size, 0);
	tgt_made(p, 3 * size);
	ended(size);
	dallocx(p, 0);
	ended(3 * size);
	sdallocx(q, size, ALIGN(8));
	ended(size);
	tgt_free(mallocx(size, 0), size);
	TGT_ADD(tgt_counts.allocations, 1);
	TGT_ADD(tgt_counts.total_bytes, size);
}

/* Of a block of `had` bytes: what is asked for, and what it is then. */
static void tgt_in_place(size_t had, size_t size, size_t extra)
{
	void *p = tgt_malloc(had);
	size_t usable = xallocx(p, size, extra, 0), now = had;

	tgt_print("in place", usable);
	if (usable >= size && usable <= nallocx(size + extra, 0)) {
		now = usable < size + extra ? usable : size + extra;
		tgt_made(p, now);
		ended(had);
	}
	dallocx(p, 0);
	ended(now);
}

static void tgt_refused(void)
{
	void *p = tgt_malloc(100);

	tgt_print("refused", mallocx((size_t)1 << 60, 0) == NULL);
	tgt_print("refused", rallocx(p, (size_t)1 << 60, 0) == NULL);
	tgt_free(p, 100);
}

static void ask(void)
{
	uint64_t allocated = 0, freed = 0;
	size_t size = sizeof(allocated), mib[4], n = 4;
	unsigned arenas = 0;

	tgt_print("nallocx", nallocx(1000, 0));
	tgt_print("mallctl", mallctl("thread.allocated", &allocated, &size,
				     NULL, 0));
	tgt_print("allocated", allocated);
	tgt_print("mallctlnametomib",
		  mallctlnametomib("thread.deallocated", mib, &n));
	tgt_print("mallctlbymib", mallctlbymib(mib, n, &freed, &size, NULL,
					       0));
	tgt_print("deallocated", freed);
	size = sizeof(arenas);
	tgt_print("mallctl", mallctl("arenas.narenas", &arenas, &size, NULL,
				     0));
	tgt_print("unknown", mallctl("no.such.name", NULL, NULL, NULL, 0));
}

int main(void)
{
	if (!mallocx || !rallocx || !xallocx || !sallocx || !dallocx ||
	    !sdallocx || !nallocx || !mallctl) {
		tgt_write("there is no such allocator\n");
		return 3;
	}
	for (size_t size = 1; size < 1000000; size = size * 3 + 1)
		tgt_blocks(size);
	tgt_in_place(100, 110, 0);	/* fits already */
	tgt_in_place(100, 5000, 0);	/* cannot */
	tgt_in_place(100, 100, 5000);	/* a little */
	tgt_in_place(3 << 20, 1 << 20, 0);
	tgt_in_place(3 << 20, 4 << 20, 1 << 20);
	tgt_in_place(10000, 20, 0);	/* cannot become smaller */
	tgt_refused();
	ask();
	tgt_report();
	return 0;
}
