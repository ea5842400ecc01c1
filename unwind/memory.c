/*
 * memory.c: asking the kernel whether an address can be read.
 *
 * rt_sigprocmask with an invalid `how` copies the signal set from the address
 * before it looks at `how`: EFAULT says unreadable, EINVAL readable, and
 * nothing changes either way. (The trick is Abseil's, AddressIsReadable.) It
 * needs no descriptor and no permission, and filters let it pass.
 *
 * Thread context: any, also signal handlers.
 */
#include <asm/mman.h>
#include <asm/unistd.h>

#include "arch.h"
#include "unwind/memory.h"

#define KERNEL_SIGSET_SIZE 8
#define KERNEL_EFAULT (-14)
#define HOW_INVALID (~0L)
#define PAGE 4096u
#define LARGE_PAGE (2u << 20)

void *(*unwind_alloc)(size_t size_bytes);
bool (*unwind_scarce)(void);
_Atomic uint32_t unwind_ban;
bool (*unwind_ask)(uintptr_t address);

void unwind_want_large_pages(void *p, size_t n)
{
	uintptr_t start = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)p + n) & ~(uintptr_t)(PAGE - 1);

	if (n >= LARGE_PAGE && unwind_may(UNWIND_NO_ADVICE))
		arch_syscall3(__NR_madvise, (long)start, (long)(end - start),
			      MADV_HUGEPAGE);
}

bool unwind_probe(uintptr_t address)
{
	long ret;

	if (address < 4096 || address > ARCH_ADDRESS_MAX - 8)
		return false;
	ret = arch_syscall4(__NR_rt_sigprocmask, HOW_INVALID, (long)address, 0,
			    KERNEL_SIGSET_SIZE);
	return ret != KERNEL_EFAULT;
}

bool unwind_readable(uintptr_t address)
{
	if (unwind_may(UNWIND_NO_PROBE))
		return unwind_probe(address);
	return unwind_ask && unwind_ask(address);
}
