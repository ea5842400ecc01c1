/*
 * replaced_code.c: the hooks' half of replaced_code.h.
 */
#include "preload/ring/replaced_code.h"

#include "unwind/image/jit.h"

void replaced_code_take(struct gl_shared *shared)
{
	uint32_t taken, tries;

	for (tries = 0; tries < 2 * GL_REPLACED; tries++) {
		const struct gl_replaced *from;
		uint64_t start, end;

		taken = atomic_load_explicit(&shared->replaced_taken,
					     memory_order_acquire);
		/* pairs with the release of replaced_report (I1) */
		if (taken == atomic_load_explicit(&shared->replaced_put,
						  memory_order_acquire))
			return;
		from = &shared->replaced[taken % GL_REPLACED];
		start = atomic_load_explicit(&from->start,
					     memory_order_relaxed);
		end = atomic_load_explicit(&from->end, memory_order_relaxed);
		/* the first thread gets the entry, which then was not
		 * overwritten */
		if (atomic_compare_exchange_strong_explicit(
			    &shared->replaced_taken, &taken, taken + 1,
			    memory_order_acq_rel, memory_order_relaxed))
			jit_replaced(start, end);
	}
}
