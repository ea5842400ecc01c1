/*
 * search.h: the one binary search. A list in order has a border: before it lie
 * entries that are not beyond the key, from it on those that are.
 *
 *	static bool starts_above(const void *list, size_t i, uint64_t address)
 *	{
 *		return ((const struct place *)list)[i].start > address;
 *	}
 *
 *	search_first(places->list, places->count, starts_above, address)
 *
 * is the place behind all that start at the address or below: the last of them
 * is the one before it, if it is not 0. With >= it is the first that may be
 * equal, if it is not the count.
 */
#ifndef GNOMON_SEARCH_H
#define GNOMON_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first i below `count` for which is_beyond(list, i, key); `count`: there
 * is none. Once it is true it must be true for all that follow. `list` is
 * passed on, and may be anything; NULL, too. Always inlined, with is_beyond:
 * it costs what a loop in its place would.
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
