/*
 * epoch.h: the body of two libraries that differ only in the names of their
 * functions, which have equal lengths. So both have the same layout, and the
 * loader maps one where the other was. The includer defines EPOCH_NAME(x);
 * without it, the header makes a third library.
 */
#ifndef GNOMON_TESTS_EPOCH_H
#define GNOMON_TESTS_EPOCH_H

#include <stdlib.h>

#ifndef EPOCH_NAME
#define EPOCH_NAME(x) epoch_c_##x
#endif

void *EPOCH_NAME(inner)(size_t size);
void *EPOCH_NAME(outer)(size_t size);
void *epoch_make(size_t size);

__attribute__((noinline)) void *EPOCH_NAME(inner)(size_t size)
{
	void *p = malloc(size);

	__asm__ volatile("" : : "r"(p));
	return p;
}

__attribute__((noinline)) void *EPOCH_NAME(outer)(size_t size)
{
	void *p = EPOCH_NAME(inner)(size);

	__asm__ volatile("" : : "r"(p));
	return p;
}

/* What the program looks up. */
void *epoch_make(size_t size)
{
	void *p = EPOCH_NAME(outer)(size);

	__asm__ volatile("" : : "r"(p));
	return p;
}

#endif
