/*
 * grow.h: allocation for the command and the recorder. A failed allocation does
 * not return: it calls the handler, if one is set, and ends the process. (A
 * command prints a message and exits: a half-made report helps nobody.)
 *
 * A growable array is three members side by side, `things`, `thing_count` and
 * `thing_capacity`, and GROW makes room for one more:
 *
 *	GROW(set->things, set->thing_count, set->thing_capacity);
 *	set->things[set->thing_count++] = thing;
 *
 * An array indexed by numbers from elsewhere has no count. GROW_TO makes room
 * up to an index; new elements are zeroed:
 *
 *	GROW_TO(set->things, set->thing_capacity, number);
 *	set->things[number] = thing;
 */
#ifndef GNOMON_GROW_H
#define GNOMON_GROW_H

#include <stddef.h>

/* Never return NULL. `size` may be 0. Release with free(). */
void *grow_alloc(size_t size);
void *grow_zeroed(size_t count, size_t size);
void *grow_resize(void *old, size_t count, size_t size);
void *grow_reach(void *old, size_t *capacity, size_t index, size_t size);
/* Like try_alloc_lines. */
void *grow_lines(void *old, size_t used, size_t size);
char *grow_copy(const void *text, size_t size);	/* NUL is added */
char *grow_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Report that an allocation of this size failed. */
_Noreturn void grow_failed(size_t size);
/* Set the function to call on failure, in any thread; it should not return.
 * NULL: abort(3). To be set before there are threads. */
void grow_on_failure(void (*failed)(size_t size));

#define GROW(array, count, capacity)					\
	do {								\
		if ((count) == (capacity)) {				\
			(capacity) = (capacity) ? (capacity) * 2 : 16;	\
			(array) = grow_resize((array), (capacity),	\
					      sizeof(*(array)));	\
		}							\
	} while (0)

#define GROW_TO(array, capacity, index)					\
	((array) = grow_reach((array), &(capacity), (index), sizeof(*(array))))

#endif
