/* bits.c: see bits.h. Called by the reader's thread. */
#include "cli/model/core/bits.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

void bits_set(struct bits *bits, uint64_t number)
{
	uint64_t key = number >> BITS_PAGE_BITS;
	uint64_t bit = number & ((1u << BITS_PAGE_BITS) - 1);
	uint32_t page = table_number(&bits->pages, key, bits->count);

	if (page == bits->count) {
		GROW(bits->list, bits->count, bits->capacity);
		memset(&bits->list[bits->count++], 0, sizeof(*bits->list));
	}
	DEBUG_ASSERT(page < bits->count && bit < 1u << BITS_PAGE_BITS);
	bits->list[page].words[bit / 64] |= UINT64_C(1) << bit % 64;
	DEBUG_ASSERT(bits_has(bits, number));
}

void bits_free(struct bits *bits)
{
	free(bits->list);
	table_free(&bits->pages);
	memset(bits, 0, sizeof(*bits));
}
