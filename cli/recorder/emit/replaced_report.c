/*
 * replaced_report.c: see replaced_report.h.
 */
#include "cli/recorder/emit/replaced_report.h"

#include "cli/recorder/turn.h"

static uint32_t replaced_waiting(const struct gl_shared *shared)
{
	/* pairs with the compare-and-swap of replaced_code_take (I1) */
	return atomic_load_explicit(&shared->replaced_put,
				    memory_order_relaxed) -
	       atomic_load_explicit(&shared->replaced_taken,
				    memory_order_acquire);
}

bool replaced_report(struct gl_shared *shared, uint64_t start, uint64_t end)
{
	uint32_t put = atomic_load_explicit(&shared->replaced_put,
					    memory_order_relaxed);
	struct gl_replaced *to = &shared->replaced[put % GL_REPLACED];

	if (replaced_waiting(shared) >= GL_REPLACED)
		return false;
	atomic_store_explicit(&to->start, start, memory_order_relaxed);
	atomic_store_explicit(&to->end, end, memory_order_relaxed);
	/* pairs with the acquire of replaced_code_take */
	atomic_store_explicit(&shared->replaced_put, put + 1,
			      memory_order_release);
	return true;
}

void replaced_request(struct gl_shared *shared)
{
	if (replaced_waiting(shared))
		turn_request(shared);
}
