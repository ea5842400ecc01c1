/*
 * live_order.h: byte order of live files. A live file has the same layout on
 * every machine, in that machine's byte order. These functions convert it to
 * this machine's. They check no values. Any thread.
 */
#ifndef GNOMON_LIVE_ORDER_H
#define GNOMON_LIVE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

/* Whether the file has the other byte order; then the header is converted. The
 * version field tells the order; it is written before everything else. */
bool live_order_header(struct gl_header *header);

void live_order_ring(struct gl_ring *ring);
void live_order_node(struct gl_node *node);
void live_order_image(struct gl_image *image);

static inline uint64_t live_order_word(uint64_t word, bool other)
{
	return other ? __builtin_bswap64(word) : word;
}

#endif
