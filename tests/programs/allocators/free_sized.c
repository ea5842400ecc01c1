// FLAGS: -Wl,--no-as-needed -lfree_sized
/*
 * free_sized.c: free_sized and related functions, of an allocator that has
 * them.
 */
#include <errno.h>

#include "tgt.h"

extern void free_sized(void *block, size_t size);
extern void free_aligned_sized(void *block, size_t alignment, size_t size);
extern void cfree(void *block);
extern void vfree(void *block);
extern void *_aligned_malloc(size_t alignment, size_t size);
extern void *mi_heap_zalloc_small(void *heap, size_t size);
extern void *reallocf(void *block, size_t size);
extern int reallocarr(void *where, size_t count, size_t size);
extern unsigned kin_calls;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void tgt_work(size_t size)
{
	void *p = tgt_malloc(size);

	free_sized(p, size);
	p = aligned_alloc(64, size);
	tgt_made(p, size);
	free_aligned_sized(p, 64, size);
	cfree(tgt_malloc(size));
	p = _aligned_malloc(64, size);
	tgt_made(p, size);
	vfree(p);
	p = mi_heap_zalloc_small(NULL, size);
	tgt_made(p, size);
	free(p);
	p = tgt_malloc(size);
	p = reallocf(p, 2 * size);
	tgt_made(p, 2 * size);
	tgt_print("reallocarr", reallocarr(&p, 3, size));
	tgt_made(p, 3 * size);
	tgt_print("refused", reallocarr(&p, SIZE_MAX / 2, 3));
	tgt_print("refused", reallocarr(&p, SIZE_MAX / 8, 3));
	tgt_print("lost", reallocf(p, SIZE_MAX / 2) == NULL);
	free_sized(NULL, 5);
	for (int i = 0; i < 6; i++)
		ended(size);
	ended(2 * size);
	ended(3 * size);
}

int main(void)
{
	for (size_t size = 64; size < 100000; size *= 3)
		tgt_work(size);
	tgt_print("calls", kin_calls);
	tgt_report();
	return 0;
}
