/*
 * stale_cpus.c: see stale_cpus.h.
 *
 * Linux has a mask of the processors on which a process's memory was in use
 * (mm_cpumask). From Linux 6.14 on a processor stays in it when it switches to
 * other memory, and makes each munmap of a touched page slower:
 * docs/notes/recorder.md.
 *
 * If an unmap frees a page table, the kernel interrupts all processors of the
 * mask, and each that has other memory by now is removed. So one page is mapped
 * where nothing else is, touched, and unmapped. That takes 3 us; hence a thread
 * that has half filled a ring does it, not the start.
 */
#include "preload/ring/stale_cpus.h"

#include <sys/mman.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"

/* As a rule the live mapping, and later mappings, end far above such an
 * address. Otherwise it has no effect. */
#define STALE_CPUS_APART (UINT64_C(1) << 30)

void stale_cpus_drop(struct producer *p)
{
	uintptr_t place = (uintptr_t)p->live & -STALE_CPUS_APART;
	long at;

	if (likely(atomic_load_explicit(&p->cpus_dropped,
					memory_order_relaxed)) ||
	    atomic_load_explicit(&p->launching, memory_order_relaxed) ||
	    !unwind_may(SECCOMP_NO_GROWTH))
		return;
	/* a second thread that does it at the same time is harmless */
	atomic_store_explicit(&p->cpus_dropped, 1, memory_order_relaxed);
	at = sys_mmap((void *)place, GL_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(at))
		return;
	if ((uintptr_t)at == place)
		atomic_store_explicit((_Atomic uint64_t *)place, 1,
				      memory_order_relaxed);
	sys_munmap((void *)at, GL_PAGE);
}
