/*
 * sn_rust.c: snmalloc's functions for Rust programs, made of mini.c's, and a
 * program that calls them.
 */
#include "tgt.h"

void *sn_memalign(size_t alignment, size_t size);
void sn_free(void *block);

void *sn_rust_alloc(size_t alignment, size_t size)
{
	return sn_memalign(alignment, size);
}

void *sn_rust_alloc_zeroed(size_t alignment, size_t size)
{
	void *block = sn_memalign(alignment, size);

	return block ? memset(block, 0, size) : NULL;
}

void sn_rust_dealloc(void *block, size_t alignment, size_t size)
{
	if (!block || !alignment || !size)
		abort();
	sn_free(block);
}

void *sn_rust_realloc(void *old, size_t alignment, size_t had, size_t size)
{
	void *block = sn_memalign(alignment, size);

	if (!block)
		return NULL;
	memcpy(block, old, had < size ? had : size);
	sn_free(old);
	return block;
}

static void tgt_rust(size_t size)
{
	void *block = sn_rust_alloc(16, size), *other;

	tgt_made(block, size);
	block = sn_rust_realloc(block, 16, size, 3 * size);
	tgt_made(block, 3 * size);
	other = sn_rust_alloc_zeroed(64, size);
	tgt_made(other, size);
	sn_rust_dealloc(block, 16, 3 * size);
	TGT_ADD(tgt_counts.frees, 2);
	TGT_ADD(tgt_counts.freed_bytes, 4 * size);
}

int main(void)
{
	for (size_t n = 1; n <= 300; n++)
		tgt_rust(n);
	tgt_report();
	return 0;
}
