/*
 * bits.h: sets of pairs (thread, number): pages of bits, which exist only
 * where one is set.
 */
#ifndef GNOMON_BITS_H
#define GNOMON_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"

#define BITS_PAGE_BITS 12

struct bits_page {
	uint64_t words[(1u << BITS_PAGE_BITS) / 64];
};

/* A zeroed one is empty. */
struct bits {
	struct table pages;
	struct bits_page *list;
	size_t count, capacity;
};

/* Numbers below 2^46, as those of blocks are; threads below 2^30. */
static inline uint64_t bits_key(uint32_t thread, uint64_t number)
{
	return (uint64_t)thread << 34 | number >> BITS_PAGE_BITS;
}

static inline bool bits_has(const struct bits *bits, uint32_t thread,
			    uint64_t number)
{
	uint32_t page = table_get(&bits->pages, bits_key(thread, number));
	uint64_t bit = number & ((1u << BITS_PAGE_BITS) - 1);

	return page != TABLE_NONE &&
	       bits->list[page].words[bit / 64] >> bit % 64 & 1;
}

void bits_set(struct bits *bits, uint32_t thread, uint64_t number);
void bits_free(struct bits *bits);

#endif
