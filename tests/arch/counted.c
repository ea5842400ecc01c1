/*
 * counted.c: what a program asks of realloc and free, printed at its end in the
 * way of tests/programs. Linked with -Wl,--wrap=realloc,--wrap=free, so that
 * calls of libraries are not counted. One thread.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

static uint64_t allocations, frees, total_bytes;

void *__wrap_realloc(void *old, size_t size)
{
	void *block = __real_realloc(old, size);

	if (block != NULL) {
		allocations++;
		frees += old != NULL;
		total_bytes += size;
	}
	return block;
}

void __wrap_free(void *block)
{
	frees += block != NULL;
	__real_free(block);
}

static __attribute__((destructor)) void print(void)
{
	printf("allocations %llu\nfrees %llu\ntotal_bytes %llu\n"
	       "live_blocks %llu\n", (unsigned long long)allocations,
	       (unsigned long long)frees, (unsigned long long)total_bytes,
	       (unsigned long long)(allocations - frees));
}
