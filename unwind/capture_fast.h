/*
 * capture_fast.h: capture_stack as the hooks call it, with the path cache
 * inlined into them.
 */
#ifndef GNOMON_UNWIND_CAPTURE_FAST_H
#define GNOMON_UNWIND_CAPTURE_FAST_H

#include <stdatomic.h>

#include "unwind/path.h"

/* What capture_stack does when the path cache has no answer. */
uint32_t capture_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* Pairs with the increment before the loader is entered. */
static inline bool capture_is_current(const struct capture_thread *t)
{
	return __builtin_expect(t->fast == atomic_load_explicit(
						   &capture_generation,
						   memory_order_relaxed),
				1);
}

/* As capture_stack. Budget of a hit: 50 instructions and 5 a word. */
static inline uint32_t capture_stack_fast(struct capture_thread *t,
					  uintptr_t ra, uintptr_t sp,
					  uintptr_t fp)
{
	const struct path *p = NULL;

	if (capture_is_current(t))
		p = path_find(t, ra, sp);
	if (__builtin_expect(p != NULL, 1))
		return p->context;
	return capture_slow(t, ra, sp, fp);
}

#endif
