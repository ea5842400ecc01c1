/*
 * memory.h: how the unwinder gets memory and reads the program's.
 *
 * The unwinder never calls an allocator. Whoever embeds it hands it pages;
 * what it takes it keeps (tables live as long as the process), so there is
 * no free. Thread context: any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_MEMORY_H
#define GNOMON_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Zeroed memory, aligned to 64 bytes at least, never given back; NULL when
 * the budget is used up or the kernel refuses. Set once by the embedder,
 * before anything else of unwind/ is called.
 */
extern void *(*unwind_alloc)(size_t size_bytes);

/*
 * Asks for large pages where [p, p + n) spans some: for tables that are
 * looked up all over. A wish only. Async-signal-safe, keeps errno.
 */
void unwind_want_large_pages(void *p, size_t n);

/*
 * Whether the 8 bytes at this address can be read now, without faulting.
 * Costs a system call. Async-signal-safe.
 */
bool unwind_readable(uintptr_t address);

/* Reads one word, checked. False leaves *value alone. */
static inline bool unwind_read(uintptr_t address, uint64_t *value)
{
	if (!unwind_readable(address))
		return false;
	*value = *(const uint64_t *)address;
	return true;
}

#endif
