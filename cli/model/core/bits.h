/*
 * bits.h: sets of numbers: pages of bits, which exist only where one is set.
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

static inline bool bits_has(const struct bits *bits, uint64_t number)
{
	uint32_t page = table_get(&bits->pages, number >> BITS_PAGE_BITS);
	uint64_t bit = number & ((1u << BITS_PAGE_BITS) - 1);

	return page != TABLE_NONE &&
	       bits->list[page].words[bit / 64] >> bit % 64 & 1;
}

void bits_set(struct bits *bits, uint64_t number);
void bits_free(struct bits *bits);

#endif
