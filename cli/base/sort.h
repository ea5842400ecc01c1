/*
 * sort.h: sorting lists. A comparison names its keys, one after the other, and
 * the direction of each:
 *
 *	static int by_size(const void *a, const void *b)
 *	{
 *		const struct thing *x = a, *y = b;
 *
 *		return sort_down(x->size, y->size) ?:
 *		       sort_up(x->number, y->number);
 *	}
 *
 *	SORT(things->list, things->count, by_size);
 */
#ifndef GNOMON_SORT_H
#define GNOMON_SORT_H

#include <stdint.h>
#include <stdlib.h>

static inline int sort_up(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline int sort_down(uint64_t a, uint64_t b)
{
	return sort_up(b, a);
}

/* If the list is empty, the array may be NULL. */
#define SORT(list, count, compare)					\
	do {								\
		if ((count) > 0)					\
			qsort((list), (count), sizeof(*(list)), (compare)); \
	} while (0)

#endif
