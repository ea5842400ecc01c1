/*
 * stale_cpus.c: see stale_cpus.h.
 *
 * Linux has a mask of the processors on which a process's memory was in use. From
 * Linux 6.14 on one stays there when it goes on to other memory, and each munmap
 * of a page that was touched takes longer for it: docs/notes/recorder.md.
 *
 * Where a table of pages goes with what is unmapped, all processors of the mask
 * are told, and one that has other memory by now leaves it. So one page is
 * mapped where nothing else is, touched, and unmapped. That takes 3 us; hence it
 * is for a thread that has half filled a ring, and not for the start.
 */
#include "preload/ring/stale_cpus.h"

#include <sys/mman.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"

/* The live mapping, and what was mapped after it, end far above such a place as
 * a rule. Else nothing is gained. */
#define STALE_CPUS_APART (UINT64_C(1) << 30)

void stale_cpus_drop(struct recorder *r)
{
	uintptr_t place = (uintptr_t)r->live & -STALE_CPUS_APART;
	long at;

	if (likely(atomic_load_explicit(&r->cpus_dropped,
					memory_order_relaxed)) ||
	    atomic_load_explicit(&r->launching, memory_order_relaxed) ||
	    !unwind_may(SECCOMP_NO_GROWTH))
		return;
	/* a thread that does it at the same time does no harm */
	atomic_store_explicit(&r->cpus_dropped, 1, memory_order_relaxed);
	at = sys_mmap((void *)place, GL_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(at))
		return;
	if ((uintptr_t)at == place)
		atomic_store_explicit((_Atomic uint64_t *)place, 1,
				      memory_order_relaxed);
	sys_munmap((void *)at, GL_PAGE);
}
