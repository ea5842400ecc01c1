/*
 * try_alloc.h: allocation that may fail, for callers that can continue without
 * the memory. For callers that cannot, grow.h is simpler.
 */
#ifndef GNOMON_TRY_ALLOC_H
#define GNOMON_TRY_ALLOC_H

#include <stddef.h>

/* Like realloc; on NULL, `old` stays valid. */
void *try_alloc_resize(void *old, size_t count, size_t size);
/*
 * Like that, for tables with random access: aligned to a cache line, and, if
 * large, in large pages, so that look-ups cause fewer TLB misses. `used`: bytes
 * of `old` to keep.
 */
void *try_alloc_lines(void *old, size_t used, size_t size);
/*
 * Zeroed pages that are never copied: when they grow, they stay in place or
 * their page tables are moved, which takes the same time whatever the size.
 * Large allocations use large pages. `old`, of `old_size` bytes, is NULL at
 * first.
 */
void *try_alloc_pages(void *old, size_t old_size, size_t size);
void try_alloc_pages_free(void *old, size_t size);

#endif
