/*
 * libdeep.c: a library opened with RTLD_DEEPBIND, see deep_binding.c. It
 * allocates for its user, frees its user's blocks, and its constructor does
 * both.
 */
#include "tgt.h"

void *deep_make(size_t size);
void deep_drop(void *block, size_t size);
void *deep_grow(void *block, size_t old_size, size_t size);
void deep_counts(struct tgt_counts *counts);

static __attribute__((constructor)) void deep_start(void)
{
	tgt_free(tgt_malloc(40), 40);
}

void *deep_make(size_t size)
{
	return tgt_calloc(1, size);
}

void deep_drop(void *block, size_t size)
{
	tgt_free(block, size);
}

void *deep_grow(void *block, size_t old_size, size_t size)
{
	return tgt_realloc(block, old_size, size);
}

void deep_counts(struct tgt_counts *counts)
{
	*counts = tgt_counts;
}
