/*
 * reserve.c: see reserve.h.
 *
 * The addresses cost nothing but themselves until they are made usable: no
 * page, no promise of one, and nothing that a limit of data or locked memory
 * counts. A step doubles a table up to RESERVE_STEP, and adds so much then.
 */
#include "cli/recorder/reserve.h"

#include <assert.h>
#include <errno.h>

#include "preload/base/base.h"
#include "preload/base/sys.h"

#define RESERVE_PAGE UINT64_C(65536)	/* of any machine */
#define RESERVE_STEP (UINT64_C(4) << 20)

#define RESERVE_HUGE 14		/* MADV_HUGEPAGE */

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

int reserve_open(struct reserve *reserve, uint64_t size)
{
	long at = -ENOMEM;

	for (; size >= RESERVE_MIN; size /= 2) {
		at = sys_mmap(NULL, size, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
		if (!sys_failed(at))
			break;
	}
	if (sys_failed(at))
		return -ENOMEM;
	/* refused, a child has a copy that it never looks at */
	sys_madvise((void *)at, size, MADV_DONTFORK);
	sys_madvise((void *)at, size, MADV_DONTDUMP);
	reserve->at = (char *)at;
	reserve->size = size;
	reserve->given = 0;
	return 0;
}

int reserve_table(struct reserve *reserve, struct reserve_table *table,
		  uint64_t size)
{
	assert(reserve->given <= reserve->size);
	size = base_round_up(size, RESERVE_PAGE);
	if (size > reserve->size - reserve->given)
		return -ENOMEM;
	table->at = reserve->at + reserve->given;
	table->ready = 0;
	table->size = size;
	reserve->given += size;
	return 0;
}

bool reserve_more(struct reserve_table *table, uint64_t bytes)
{
	uint64_t step = base_max(base_min(table->ready, RESERVE_STEP),
				 RESERVE_PAGE);
	uint64_t to = base_max(base_round_up(bytes, RESERVE_PAGE),
			       table->ready + step);

	if (bytes > table->size)
		return false;
	to = base_min(to, table->size);
	assert(table->ready <= to && bytes <= to);
	if (arch_syscall3(__NR_mprotect, (long)table->at + table->ready,
			  to - table->ready, PROT_READ | PROT_WRITE))
		return false;
	/* where a table is large, its entries lie too far apart for small
	 * pages; refused, it only is slower */
	if (to - table->ready >= RESERVE_STEP)
		sys_madvise(table->at + table->ready, to - table->ready,
			    RESERVE_HUGE);
	table->ready = to;
	return true;
}

uint64_t reserve_used(const struct reserve_table *table)
{
	return table->ready;
}
