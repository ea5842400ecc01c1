/*
 * hooks_tuning.c: hooks of calls that tune the allocator, or make it give
 * memory back: recorded with arguments and results. Some C libraries lack them,
 * so they are visible only if the program would find one (optional.h).
 */
#include "preload/hooks/hooks_wrap.h"

int mallopt_wrap(int parameter, int value)
{
	struct hooks_caller caller = HOOKS_CALLER;
	int result = mallopt_real(parameter, value);
	const uint64_t args[GT_EXTRA_ARGS] = {
		(uint64_t)parameter, (uint64_t)value, (uint64_t)result,
	};

	if (!wrap_allocators(caller.ra))
		hooks_extra(GT_EXTRA_MALLOPT, 0, 0, args, caller);
	return result;
}

int malloc_trim_wrap(size_t keep)
{
	struct hooks_caller caller = HOOKS_CALLER;
	int result = malloc_trim_real(keep);
	const uint64_t args[GT_EXTRA_ARGS] = { keep, (uint64_t)result };

	if (!wrap_allocators(caller.ra))
		hooks_extra(GT_EXTRA_TRIM, 0, 0, args, caller);
	return result;
}
