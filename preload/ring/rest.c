/* rest.c: see rest.h. */
#include "preload/ring/rest.h"

#include <string.h>

void rest_add(const struct gl_thread *thread,
	      uint64_t sums[GT_CLASSES][GT_REST_VALUES])
{
	unsigned i, k;

	if (!thread->rests)
		return;
	for (i = 0; i < GT_CLASSES; i++)
		for (k = 0; k < GT_REST_VALUES; k++)
			sums[i][k] += __atomic_load_n(&thread->rest[i][k],
						      __ATOMIC_RELAXED);
}

void rest_sum(struct gl_header *live, const struct gl_shared *shared,
	      rest_thread_of *thread_of,
	      uint64_t sums[GT_CLASSES][GT_REST_VALUES])
{
	/* pairs with the release of pool_add: each has its gl_thread */
	uint32_t count = atomic_load_explicit(&live->ring_count,
					      memory_order_acquire);
	uint32_t id;

	memset(sums, 0, GT_CLASSES * sizeof(*sums));
	for (id = 0; id < count; id++) {
		const struct gl_thread *thread = thread_of(shared, id);

		if (thread)
			rest_add(thread, sums);
	}
}
