/*
 * forbidden.c: see forbidden.h.
 *
 * I1  A bit that was added stays: filters cannot be removed. forbidden_after
 *     clears only bits that forbidden_before set in advance.
 */
#include "preload/ring/forbidden.h"

#include "preload/ring/producer.h"

/* Bits in force, and the number of calls in progress. */
static _Atomic uint32_t forbidden_known;
static _Atomic uint32_t forbidden_pending;
/* Filters that the hooks have seen, including those of parents. */
static _Atomic uint32_t forbidden_filters;

/* Publishes the bits to the recorder. */
static void forbidden_share(uint32_t ban)
{
	struct gl_shared *shared;

	atomic_thread_fence(memory_order_seq_cst);
	shared = producer ? producer->shared : NULL;
	if (!shared)
		return;
	atomic_store_explicit(&shared->filters_seen,
			      atomic_load_explicit(&forbidden_filters,
						   memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&shared->ban_known, ban, memory_order_seq_cst);
}

static void forbidden_publish(void)
{
	uint32_t ban = atomic_load_explicit(&forbidden_known,
					    memory_order_seq_cst);

	if (atomic_load_explicit(&forbidden_pending, memory_order_seq_cst))
		ban = SECCOMP_NO_ALL;
	atomic_store_explicit(&unwind_ban, ban, memory_order_seq_cst);
	forbidden_share(ban);
}

void forbidden_add(uint32_t bits)
{
	atomic_fetch_or_explicit(&forbidden_known, bits, memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_before(void)
{
	atomic_fetch_add_explicit(&forbidden_pending, 1, memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_after(uint32_t bits, bool filter)
{
	atomic_fetch_add_explicit(&forbidden_filters, filter,
				  memory_order_relaxed);
	atomic_fetch_or_explicit(&forbidden_known, bits, memory_order_seq_cst);
	DEBUG_ASSERT(atomic_load_explicit(&forbidden_pending,
					  memory_order_relaxed) > 0);
	atomic_fetch_sub_explicit(&forbidden_pending, 1, memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_report_start(struct gl_shared *shared)
{
	shared->ban_known = atomic_load_explicit(&unwind_ban,
						 memory_order_relaxed);
	shared->filters_seen = atomic_load_explicit(&forbidden_filters,
						    memory_order_relaxed);
}

void forbidden_report(struct producer *r)
{
	unwind_ban_found = &producer->ban_found;
	producer->ban_found = &r->shared->ban_found;
	/* pairs with the fence of forbidden_share: a thread that saw a filter
	 * sees the shared memory, or the filter is published here */
	atomic_thread_fence(memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_take_over(void)
{
	uint32_t found = unwind_found();

	if (unlikely(found & ~atomic_load_explicit(&unwind_ban,
						   memory_order_relaxed)))
		forbidden_add(found);
}
