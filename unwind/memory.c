/*
 * memory.c: asking the kernel whether an address can be read.
 *
 * rt_sigprocmask with an invalid `how` copies the signal set from the address
 * before it looks at `how`: EFAULT says unreadable, EINVAL readable, and
 * nothing changes either way. (The trick is Abseil's, AddressIsReadable.) It
 * needs no descriptor and no permission, and filters let it pass.
 *
 * qemu's user emulation looks at `how` first. But it hands a futex's address on
 * as it is, and the kernel reads the word there before it sees that the time to
 * wait is over.
 *
 * Thread context: any, also signal handlers.
 */
#include <asm/mman.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <sys/uio.h>
#include <time.h>

#include "arch.h"
#include "unwind/claim.h"
#include "unwind/memory.h"
#include "unwind/signals.h"

#define KERNEL_EFAULT (-14)
#define HOW_INVALID (~0L)
#define PAGE 4096u
#define PAGE_MOST 65536u	/* no kernel has larger ones */
#define LARGE_PAGE (2u << 20)
/* Tables of which all pages will be used, and soon: from the size on that only
 * those have which have grown several times, up to the longest pause. */
#define READY_LEAST (1u << 20)
#define READY_MOST (8u << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23	/* Linux 5.14; before that an error */
#endif

void *(*unwind_alloc)(size_t size_bytes);
bool (*unwind_scarce)(void);
bool unwind_emulated;
_Atomic uint32_t unwind_ban;
_Atomic uint32_t *const *unwind_ban_found;
bool (*unwind_ask)(uintptr_t address);

/* Of the pages of this size in [p, p + n). The call may fail. */
static void advise_pages(void *p, size_t n, int advice, uintptr_t page)
{
	uintptr_t start = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + n) & ~(page - 1);

	if (end > start && unwind_may(UNWIND_NO_ADVICE))
		arch_syscall3(__NR_madvise, (long)start, (long)(end - start),
			      advice);
}

static void advise(void *p, size_t n, int advice)
{
	advise_pages(p, n, advice, PAGE);
}

void unwind_want_pages(void *p, size_t n)
{
	if (n >= LARGE_PAGE)
		advise(p, n, MADV_HUGEPAGE);
	/* else they come one by one */
	if (n >= READY_LEAST && n <= READY_MOST)
		advise(p, n, MADV_POPULATE_WRITE);
}

void unwind_leave_pages(void *p, size_t n)
{
	/* of a page, only the whole; and the kernel's may be larger */
	advise_pages(p, n, MADV_DONTNEED, PAGE_MOST);
}

static bool probe_by_futex(uintptr_t address)
{
	const struct timespec none = { 0, 0 };

	return arch_syscall4(__NR_futex, (long)(address & ~(uintptr_t)3),
			     FUTEX_WAIT_PRIVATE, 0, (long)&none) !=
	       KERNEL_EFAULT;
}

bool unwind_probe(uintptr_t address)
{
	long ret;

	if (address < 4096 || address > ARCH_ADDRESS_MAX - 8)
		return false;
	if (__builtin_expect(unwind_emulated, 0))
		return probe_by_futex(address);
	ret = arch_syscall4(__NR_rt_sigprocmask, HOW_INVALID, (long)address, 0,
			    SIGNALS_SET);
	return ret != KERNEL_EFAULT;
}

static bool probe_tells(uintptr_t unreadable, uintptr_t readable)
{
	return !unwind_probe(unreadable) && unwind_probe(readable);
}

bool unwind_choose_probe(uintptr_t unreadable, uintptr_t readable)
{
	unwind_emulated = false;
	if (probe_tells(unreadable, readable))
		return true;
	unwind_emulated = true;
	if (probe_tells(unreadable, readable))
		return true;
	unwind_emulated = false;
	atomic_fetch_or_explicit(&unwind_ban, UNWIND_NO_PROBE,
				 memory_order_relaxed);
	return false;
}

/* Page by page. */
static size_t copy_probed(uint8_t *to, uintptr_t from, size_t n)
{
	size_t done = 0;

	while (done < n && unwind_may(UNWIND_NO_PROBE)) {
		uintptr_t at = from + done;
		size_t piece = PAGE - at % PAGE;

		if (piece > n - done)
			piece = n - done;
		/* its first word, or that of the page */
		if (!unwind_probe(at & ~(uintptr_t)7))
			break;
		__builtin_memcpy(to + done, (const void *)at, piece);
		done += piece;
		CLAIM_FULL(done <= n);
	}
	return done;
}

size_t unwind_copy(void *to, uintptr_t from, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)from, n };
	long ret;

	if (from + n < from || from > ARCH_ADDRESS_MAX)
		return 0;
	if (!unwind_may(UNWIND_NO_COPY | UNWIND_NO_IDS))
		return copy_probed(to, from, n);
	/* The calling process's own, whoever shares its memory. */
	ret = arch_syscall6(__NR_process_vm_readv, arch_syscall0(__NR_getpid),
			    (long)&local, 1, (long)&remote, 1, 0);
	CLAIM_FULL(ret < 0 || (size_t)ret <= n);
	if (ret >= 0)
		return (size_t)ret;
	return ret == KERNEL_EFAULT ? 0 : copy_probed(to, from, n);
}

bool unwind_readable(uintptr_t address)
{
	if (unwind_may(UNWIND_NO_PROBE))
		return unwind_probe(address);
	return unwind_ask && unwind_ask(address);
}
