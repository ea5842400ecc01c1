/*
 * blocks_request.c: see blocks_request.h. The recorder copies the results: no
 * other task reads its tables. Threads of the target only.
 */
#include "preload/ring/blocks_request.h"

#include <errno.h>

#include "preload/ring/request.h"
#include "preload/ring/producer.h"
#include "preload/ring/ring.h"

void blocks_want(struct producer *p, uint32_t why)
{
	struct gl_shared *shared = p->shared;

	if (shared && (atomic_fetch_or_explicit(&shared->blocks_users, why,
					       memory_order_relaxed) & why) !=
			      why)
		recorder_wake(p);
}

bool blocks_nested(void)
{
	const struct thread *thread = producer_tls;

	return thread && thread->own && !ring_idle(thread->own);
}

int blocks_request(struct producer *p, enum blocks_request_kind what,
		   uint32_t ring, void *answer, uint32_t bytes)
{
	const struct request_args args = {
		.what = REQUEST_BLOCKS, .number = what,
		.arg = { ring, blocks_nested() },
		.more = answer, .more_bytes = bytes,
	};
	long result;

	return request_make(p, &args, &result) ? result : -ETIMEDOUT;
}
