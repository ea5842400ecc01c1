/*
 * budget.c: see budget.h.
 *
 * Most of our memory is reserved and hardly ever touched. Without limits that
 * costs nothing; under a limit of address space the program would lack it. So
 * the budget is then a part of the limit, provided that the minimum we can work
 * with is no larger.
 *
 * Once, at the first start.
 */
#include "preload/start/budget.h"

#include <errno.h>
#include <sys/resource.h>

#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"

#define BUDGET_PART 8		/* one part in so many of a limit */
#define BUDGET_GROWTH_LEAST (UINT64_C(1) << 20)
#define BUDGET_LIMIT_LEAST (UINT64_C(64) << 20)

static uint64_t budget_limit(int resource)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, resource, 0, (long)limit))
		return UINT64_MAX;
	return limit[0];	/* all ones: no limit */
}

int budget_limited(const struct options *options, uint64_t limit,
		   struct budget *budget)
{
	uint64_t memory = options->number[OPTION_MEMORY];
	uint64_t growth = memory / 2;

	if (!options->given[OPTION_MEMORY] && limit / BUDGET_PART < memory) {
		if (limit < BUDGET_LIMIT_LEAST)
			return -ENOMEM;
		memory = base_max(limit / BUDGET_PART, OPTIONS_MEMORY_MIN);
		growth = base_max(memory / 4, BUDGET_GROWTH_LEAST);
	}
	budget->memory = memory;
	/* tables for the largest number of threads take memory only where they
	 * are used; the memory that area_set_budget() lets grow comes after them */
	budget->area = AREA_MIN + growth;
	return 0;
}

int budget_make(const struct options *options, struct budget *budget)
{
	return budget_limited(options,
			      base_min(budget_limit(RLIMIT_AS),
				       budget_limit(RLIMIT_DATA)),
			      budget);
}
