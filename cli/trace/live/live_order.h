/*
 * live_order.h: a live file has the same layout on every machine, in the byte
 * order of its own: what was read of one of the other order is turned into this
 * machine's here. No word of it is checked. Any thread.
 */
#ifndef GNOMON_LIVE_ORDER_H
#define GNOMON_LIVE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

/* Whether the file is of the other byte order: then the header is turned. Its
 * version tells, which is there before anything else. */
bool live_order_header(struct gl_header *header);

void live_order_ring(struct gl_ring *ring);
void live_order_node(struct gl_node *node);
void live_order_image(struct gl_image *image);

static inline uint64_t live_order_word(uint64_t word, bool other)
{
	return other ? __builtin_bswap64(word) : word;
}

#endif
