/*
 * zeroed.h: allocates zeroed tables and buffers that the recorder keeps until
 * it ends.
 */
#ifndef GNOMON_ZEROED_H
#define GNOMON_ZEROED_H

#include <stddef.h>

/* Zeroed memory, aligned to a cache line, never freed; NULL: no memory. Pages
 * of a large table are populated on first use. */
void *zeroed_alloc(size_t size_bytes);

#endif
