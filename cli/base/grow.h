/*
 * grow.h: memory of the host side. An allocation that fails ends the command
 * with a message: a half-made report helps nobody.
 *
 * A growable array is three members side by side, `things`, `thing_count` and
 * `thing_capacity`, and GROW makes room for one more:
 *
 *	GROW(set->things, set->thing_count, set->thing_capacity);
 *	set->things[set->thing_count++] = thing;
 */
#ifndef GNOMON_GROW_H
#define GNOMON_GROW_H

#include <stddef.h>

/* Never return NULL. `size` may be 0. Release with free(). */
void *grow_alloc(size_t size);
void *grow_zeroed(size_t count, size_t size);
void *grow_resize(void *old, size_t count, size_t size);
/* As room_lines. */
void *grow_lines(void *old, size_t used, size_t size);
char *grow_copy(const void *text, size_t size);	/* NUL is added */
char *grow_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Ends the command, with a message: so many bytes were refused. */
_Noreturn void grow_failed(size_t size);
/* Exit status when memory runs out: 125 in `run`, else EXIT_NOTHING. */
void grow_set_failure_status(int status);

#define GROW(array, count, capacity)					\
	do {								\
		if ((count) == (capacity)) {				\
			(capacity) = (capacity) ? (capacity) * 2 : 16;	\
			(array) = grow_resize((array), (capacity),	\
					      sizeof(*(array)));	\
		}							\
	} while (0)

#endif
