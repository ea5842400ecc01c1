/*
 * memory.c: asks the kernel whether an address is readable.
 *
 * rt_sigprocmask with an invalid `how` copies the signal set from the address
 * before it checks `how`: EFAULT means unreadable, EINVAL readable, and nothing
 * changes either way. (The trick is from Abseil's AddressIsReadable.) It needs
 * no descriptor and no permission, and seccomp filters usually allow it.
 *
 * qemu's user emulation checks `how` first. But it passes a futex's address on
 * unchanged, and the kernel reads the word there before it finds the timeout
 * expired.
 *
 * Thread context: any, also signal handlers.
 */
#include <asm/mman.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <sys/uio.h>
#include <time.h>

#include "arch.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/base/signals.h"

#define KERNEL_EFAULT (-14)
#define HOW_INVALID (~0L)
#define PAGE 4096u
#define PAGE_MOST 65536u	/* no kernel has larger ones */
#define LARGE_PAGE (2u << 20)
/* Size of tables whose pages are populated at once, as all will be used soon:
 * from the size that only tables reach which have grown several times, to the
 * size with the longest acceptable pause. */
#define READY_LEAST (1u << 20)
#define READY_MOST (8u << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23	/* Linux 5.14; earlier kernels return an
				 * error */
#endif

void *(*unwind_alloc)(size_t size_bytes);
bool (*unwind_scarce)(void);
bool unwind_emulated;
_Atomic uint32_t unwind_ban;
_Atomic uint32_t *const *unwind_ban_found;
bool (*unwind_request)(uintptr_t address);

/* Advises about the whole pages of this size in [p, p + n). The call may
 * fail. */
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
	/* otherwise pages are populated one by one */
	if (n >= READY_LEAST && n <= READY_MOST)
		advise(p, n, MADV_POPULATE_WRITE);
}

void unwind_leave_pages(void *p, size_t n)
{
	/* whole pages only; the kernel's pages may be larger than PAGE */
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

static bool probe_reports(uintptr_t unreadable, uintptr_t readable)
{
	return !unwind_probe(unreadable) && unwind_probe(readable);
}

bool unwind_choose_probe(uintptr_t unreadable, uintptr_t readable)
{
	unwind_emulated = false;
	if (probe_reports(unreadable, readable))
		return true;
	unwind_emulated = true;
	if (probe_reports(unreadable, readable))
		return true;
	unwind_emulated = false;
	atomic_fetch_or_explicit(&unwind_ban, UNWIND_NO_PROBE,
				 memory_order_relaxed);
	return false;
}

/* Copies page by page, probing each. */
static size_t copy_probed(uint8_t *to, uintptr_t from, size_t n)
{
	size_t done = 0;

	while (done < n && unwind_may(UNWIND_NO_PROBE)) {
		uintptr_t at = from + done;
		size_t piece = PAGE - at % PAGE;

		if (piece > n - done)
			piece = n - done;
		/* the piece's first word */
		if (!unwind_probe(at & ~(uintptr_t)7))
			break;
		__builtin_memcpy(to + done, (const void *)at, piece);
		done += piece;
		DEBUG_ASSERT(done <= n);
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
	/* The calling process's id, even if it shares its memory with
	 * another. */
	ret = arch_syscall6(__NR_process_vm_readv, arch_syscall0(__NR_getpid),
			    (long)&local, 1, (long)&remote, 1, 0);
	DEBUG_ASSERT(ret < 0 || (size_t)ret <= n);
	if (ret >= 0)
		return (size_t)ret;
	return ret == KERNEL_EFAULT ? 0 : copy_probed(to, from, n);
}

bool unwind_readable(uintptr_t address)
{
	if (unwind_may(UNWIND_NO_PROBE))
		return unwind_probe(address);
	return unwind_request && unwind_request(address);
}
