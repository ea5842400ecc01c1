/*
 * libheld.c: the program determines how long its constructor, or destructor,
 * takes; it also has code of its own that allocates.
 */
#include <stdlib.h>

extern void held_here(void) __attribute__((weak));

__attribute__((constructor, noinline)) static void held_begin(void)
{
	free(malloc(100));
	if (held_here)
		held_here();
	free(malloc(100));
}

__attribute__((noinline)) void held_allocate(void (*allocate)(void))
{
	allocate();
}
