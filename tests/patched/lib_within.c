/*
 * lib_within.c: a library with an allocator in it that nobody else sees;
 * within.c is its program.
 */
#include <stddef.h>

void *_rjem_malloc(size_t size);
void _rjem_free(void *block);

__attribute__((visibility("default"))) void *within_get(size_t size)
{
	return _rjem_malloc(size);
}

__attribute__((visibility("default"))) void within_put(void *block)
{
	_rjem_free(block);
}
