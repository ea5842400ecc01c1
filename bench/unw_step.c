/*
 * unw_step.c: libunwind's documented loop as one function, with the form of
 * unw_backtrace. A shared library of its own, linked with libunwind, which
 * bench/unwinders.c opens; it says why libunwind cannot be linked in there.
 *
 * unw_backtrace has a cache of frames of its own. unw_step has none: each step
 * finds the rule of the frame and computes all saved registers. Rules are cached
 * for each thread where libunwind was built so, as heaptrack asks it to. With the
 * cache for all threads, the only one in Debian's libunwind 1.6, each step takes
 * a lock and blocks signals: two system calls.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

int unw_step_backtrace(void **frames, int max);

__attribute__((constructor)) static void unw_step_cache(void)
{
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
}

/* Writes at most `max` return addresses, the caller's own first, and returns
 * how many. The first step leaves this function's frame. */
__attribute__((noinline)) int unw_step_backtrace(void **frames, int max)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t address;
	int n = 0;

	if (unw_getcontext(&context) < 0 ||
	    unw_init_local(&cursor, &context) < 0)
		return 0;
	while (n < max && unw_step(&cursor) > 0) {
		if (unw_get_reg(&cursor, UNW_REG_IP, &address) < 0 || !address)
			break;
		frames[n++] = (void *)address;
	}
	return n;
}
