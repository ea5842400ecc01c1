/*
 * memory.h: how the unwinder gets memory and reads the program's.
 *
 * The unwinder never calls an allocator. Whoever embeds it hands it pages; the
 * addresses that it takes it keeps (tables live as long as the process), so
 * there is no free; only what is in them may be (unwind_leave_pages). Thread
 * context: any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_MEMORY_H
#define GNOMON_UNWIND_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/order.h"

/*
 * Zeroed memory, aligned to 64 bytes at least, never given back; NULL when
 * the budget is used up or the kernel refuses. Set once by the embedder,
 * before anything else of unwind/ is called.
 */
extern void *(*unwind_alloc)(size_t size_bytes);

/* Whether so little is left of it that what only saves time is to do without,
 * for the sake of what stacks cannot be walked without. NULL: never. */
extern bool (*unwind_scarce)(void);

/*
 * What the process may not do any more, because it has a filter of system
 * calls that would end it (seccomp). Only ever grows; set by the embedder.
 * Threads then go without: they spin where they would have slept, and so on.
 */
enum {
	UNWIND_NO_PROBE = 1,	/* rt_sigprocmask */
	UNWIND_NO_WAIT = 2,	/* futex */
	UNWIND_NO_IDS = 4,	/* getpid, gettid, prctl(PR_GET_NAME) */
	UNWIND_NO_ADVICE = 8,	/* madvise */
	UNWIND_NO_FILES = 16,	/* open, map, close */
	UNWIND_NO_COPY = 256,	/* process_vm_readv */
	UNWIND_NO_READ = 2048	/* of a file that is open */
};
extern order_32 unwind_ban;

/* More of it, in memory that only this process has: the pointer there is read
 * each time, and NULL in a forked child. NULL: there is no more. */
extern order_32 *const *unwind_ban_found;

static inline uint32_t unwind_found(void)
{
	const order_32 *found = unwind_ban_found ? *unwind_ban_found :
							   NULL;

	return found ? atomic_load_explicit(found, memory_order_relaxed) : 0;
}

static inline bool unwind_may(uint32_t what)
{
	return !((atomic_load_explicit(&unwind_ban, memory_order_relaxed) |
		  unwind_found()) &
		 what);
}

/* Who is asked then in place of unwind_probe; NULL: nobody, and nothing can be
 * read. Set once, as unwind_alloc. */
extern bool (*unwind_ask)(uintptr_t address);

/* unwind_readable by a system call, whatever the ban says. */
bool unwind_probe(uintptr_t address);

/* Whether an emulator runs the process: one that does not look at the address
 * unwind_probe would show the kernel. Set by the embedder, once it knows. */
extern bool unwind_emulated;

/*
 * For an embedder that knows nothing of emulators: sets that as it is, by two
 * addresses of which one cannot be read. False: no way tells them apart, and
 * from now on none is used (UNWIND_NO_PROBE). By one thread, before all else.
 */
bool unwind_choose_probe(uintptr_t unreadable, uintptr_t readable);

/*
 * Asks for the pages of [p, p + n), large ones where it spans some: for tables
 * that are about to be used all over. A wish only. Async-signal-safe, keeps errno.
 */
void unwind_want_pages(void *p, size_t n);

/* What lies in [p, p + n) is not needed any more; any of it may be zero from now
 * on. Async-signal-safe, keeps errno. */
void unwind_leave_pages(void *p, size_t n);

/*
 * Whether the 8 bytes at this address can be read now, without faulting.
 * Costs a system call. Async-signal-safe.
 */
bool unwind_readable(uintptr_t address);

/*
 * Copies up to n bytes from an address that may be anything, and may be
 * unmapped by another thread meanwhile; returns how many, from the first on,
 * could be read. Costs two system calls. Async-signal-safe.
 *
 * Where process_vm_readv is forbidden or missing, pages are looked at one by
 * one and then read: what goes within these few instructions faults.
 */
size_t unwind_copy(void *to, uintptr_t from, size_t n);

/* Reads one word, checked. False leaves *value alone. */
static inline bool unwind_read(uintptr_t address, uint64_t *value)
{
	if (!unwind_readable(address))
		return false;
	*value = *(const uint64_t *)address;
	return true;
}

#endif
