/*
 * memory.h: how the unwinder allocates memory and reads the program's.
 *
 * The unwinder never calls an allocator: the embedder hands it pages. It keeps
 * their addresses as long as the process lives (as tables do), so there is no
 * free; only the contents of pages can be released (unwind_leave_pages). Thread
 * context: any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_MEMORY_H
#define GNOMON_UNWIND_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/byte_order.h"

/*
 * Zeroed memory, aligned to at least 64 bytes, never freed; NULL when the
 * budget is used up or the kernel refuses. Set once by the embedder, before
 * anything else of unwind/ is called.
 */
extern void *(*unwind_alloc)(size_t size_bytes);

/* Whether so little memory is left that structures which only save time must do
 * without, so that stacks can still be walked. NULL: never. */
extern bool (*unwind_scarce)(void);

/*
 * System calls that the process must not make any more, because a filter
 * (seccomp) would end it. Threads then use a substitute: they spin instead of
 * sleeping, and so on. The embedder and unwind_choose_probe only ever add bits.
 * Above the bits, in units of UNWIND_BAN_PENDING, the embedder counts its calls
 * in progress that may forbid more: during such a call, nothing is allowed.
 */
enum {
	UNWIND_NO_PROBE = 1,	/* rt_sigprocmask */
	UNWIND_NO_WAIT = 2,	/* futex */
	UNWIND_NO_IDS = 4,	/* getpid, gettid, prctl(PR_GET_NAME) */
	UNWIND_NO_ADVICE = 8,	/* madvise */
	UNWIND_NO_FILES = 16,	/* open, map, close */
	UNWIND_NO_COPY = 256,	/* process_vm_readv */
	UNWIND_NO_READ = 2048,	/* of a file that is open */
	UNWIND_BAN_PENDING = 1 << 16
};
#define UNWIND_BAN_BITS (UNWIND_BAN_PENDING - 1u)

extern order_32 unwind_ban;

/* More bits of unwind_ban, in memory that only this process has. The pointer
 * there is read each time, and is NULL in a forked child. NULL: there are no
 * more. */
extern order_32 *const *unwind_ban_found;

static inline uint32_t unwind_found(void)
{
	const order_32 *found = unwind_ban_found ? *unwind_ban_found :
							   NULL;

	return found ? atomic_load_explicit(found, memory_order_relaxed) &
		       UNWIND_BAN_BITS : 0;
}

static inline bool unwind_may(uint32_t what)
{
	return !((atomic_load_explicit(&unwind_ban, memory_order_relaxed) |
		  unwind_found()) &
		 (what | ~UNWIND_BAN_BITS));
}

/* Called instead of unwind_probe if that is banned; NULL: nothing can be read
 * then. Set once, like unwind_alloc. */
extern bool (*unwind_request)(uintptr_t address);

/* unwind_readable by a system call, even if it is banned. */
bool unwind_probe(uintptr_t address);

/* Whether the process runs in an emulator that ignores the address by which
 * unwind_probe would ask the kernel. Set by the embedder, once it knows. */
extern bool unwind_emulated;

/*
 * For an embedder that does not know about emulators: sets unwind_emulated by
 * trying two addresses, one of them not readable. False: no method tells them
 * apart; from now on none is used (UNWIND_NO_PROBE). By one thread, before all
 * else.
 */
bool unwind_choose_probe(uintptr_t unreadable, uintptr_t readable);

/*
 * Advises the kernel that the pages of [p, p + n) will be used, as large pages
 * where possible: for tables that are about to be used all over. A hint only.
 * Async-signal-safe, keeps errno.
 */
void unwind_want_pages(void *p, size_t n);

/* The contents of [p, p + n) are no longer needed; any of it may read as zero
 * from now on. Async-signal-safe, keeps errno. */
void unwind_leave_pages(void *p, size_t n);

#define UNWIND_PAGE 4096u	/* no kernel page is smaller */

/*
 * Whether the 8 bytes at this address can be read now, without faulting.
 * Costs a system call. Async-signal-safe.
 */
bool unwind_readable(uintptr_t address);

/*
 * Copies up to n bytes from an address that may be anything, and that another
 * thread may unmap meanwhile; returns how many bytes, from the first on, were
 * readable. Costs two system calls. Async-signal-safe.
 *
 * If process_vm_readv is forbidden or missing, pages are probed one by one and
 * then read: a page that is unmapped within these few instructions causes a
 * fault.
 */
size_t unwind_copy(void *to, uintptr_t from, size_t n);

/* Reads one word, checked. False: *value is unchanged. */
static inline bool unwind_read(uintptr_t address, uint64_t *value)
{
	if (!unwind_readable(address))
		return false;
	*value = *(const uint64_t *)address;
	return true;
}

#endif
