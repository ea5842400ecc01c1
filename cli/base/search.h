/*
 * search.h: binary search. It finds the border in a sorted list: entries before
 * the border are not beyond the key, entries from it on are.
 *
 *	static bool starts_above(const void *list, size_t i, uint64_t address)
 *	{
 *		return ((const struct place *)list)[i].start > address;
 *	}
 *
 *	search_first(places->list, places->count, starts_above, address)
 *
 * is the index after the last entry that starts at or below the address; that
 * entry is the one before it, if the index is not 0. With >= it is the index of
 * the first entry that may be equal, if it is not the count.
 */
#ifndef GNOMON_SEARCH_H
#define GNOMON_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first i below `count` for which is_beyond(list, i, key); `count` if there
 * is none. Once is_beyond is true it must stay true for all following i. `list`
 * is only passed on, and may be NULL. Always inlined, with is_beyond: it costs
 * as much as a hand-written loop.
 */
__attribute__((always_inline))
static inline size_t search_first(const void *list, size_t count,
				  bool (*is_beyond)(const void *list, size_t i,
						    uint64_t key),
				  uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_beyond(list, middle, key))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

#endif
