/*
 * capture_fast.h: the version of capture_stack that hooks call: its path cache
 * lookup is inlined.
 */
#ifndef GNOMON_UNWIND_CAPTURE_FAST_H
#define GNOMON_UNWIND_CAPTURE_FAST_H

#include <stdatomic.h>

#include "unwind/image/image.h"
#include "unwind/path.h"

/* The rest of capture_stack, when the path cache has no answer. */
uint32_t capture_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* Pairs with the increment before the loader is entered. */
static inline bool capture_is_current(const struct capture_thread *t)
{
	return __builtin_expect(t->fast == atomic_load_explicit(
						   &image_generation,
						   memory_order_relaxed),
				1);
}

/* Like capture_stack. Budget of a hit: 50 instructions, and 5 for each word. */
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
