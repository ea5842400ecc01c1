/*
 * libctor.c: allocates while it is being loaded and unloaded.
 */
#include <stdlib.h>

static void *block;

__attribute__((constructor, noinline)) static void ctor_begin(void)
{
	block = malloc(1234);
	free(calloc(10, 10));
}

__attribute__((destructor, noinline)) static void ctor_end(void)
{
	free(block);
	block = malloc(4321);
}
