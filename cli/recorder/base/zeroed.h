/*
 * zeroed.h: the recorder's memory for tables and buffers that it has until it
 * ends.
 */
#ifndef GNOMON_ZEROED_H
#define GNOMON_ZEROED_H

#include <stddef.h>

/* Zeroed memory, aligned to a cache line, never given back; NULL: there is
 * none. Of a large table only what is used is made. */
void *zeroed_alloc(size_t size_bytes);

#endif
