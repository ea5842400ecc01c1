/*
 * forbidden.c: see forbidden.h.
 *
 * I1  A bit that was added stays: filters cannot be removed. unwind_ban changes
 *     only by additions of bits, and of calls in progress, so no thread's
 *     change is lost.
 * I2  The recorder's copy ends as the last change left it: a thread that may
 *     have stored an older value stores again.
 */
#include "preload/ring/forbidden.h"

#include "preload/ring/producer.h"

static_assert(SECCOMP_NO_ALL <= UNWIND_BAN_BITS, "below the count");

/* Filters that the hooks have seen, including those of parents. */
static _Atomic uint32_t forbidden_filters;

/* What the recorder may expect the process to be forbidden. */
static uint32_t forbidden_bits(uint32_t ban)
{
	return ban > UNWIND_BAN_BITS ? SECCOMP_NO_ALL : ban;
}

/* Publishes the bits to the recorder. */
static void forbidden_publish(void)
{
	struct gl_shared *shared;
	uint32_t ban, filters;

	/* pairs with that of forbidden_report */
	atomic_thread_fence(memory_order_seq_cst);
	shared = producer ? producer->shared : NULL;
	if (!shared)
		return;
	do {
		ban = atomic_load_explicit(&unwind_ban, memory_order_seq_cst);
		filters = atomic_load_explicit(&forbidden_filters,
					       memory_order_seq_cst);
		atomic_store_explicit(&shared->filters_seen, filters,
				      memory_order_seq_cst);
		atomic_store_explicit(&shared->ban_known, forbidden_bits(ban),
				      memory_order_seq_cst);
		/* I2 */
	} while (ban != atomic_load_explicit(&unwind_ban,
					     memory_order_seq_cst) ||
		 filters != atomic_load_explicit(&forbidden_filters,
						 memory_order_seq_cst));
}

void forbidden_add(uint32_t bits)
{
	DEBUG_ASSERT(!(bits & ~UNWIND_BAN_BITS));
	atomic_fetch_or_explicit(&unwind_ban, bits, memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_before(void)
{
	atomic_fetch_add_explicit(&unwind_ban, UNWIND_BAN_PENDING,
				  memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_after(uint32_t bits, bool filter)
{
	uint32_t ban;

	DEBUG_ASSERT(!(bits & ~UNWIND_BAN_BITS));
	atomic_fetch_add_explicit(&forbidden_filters, filter,
				  memory_order_seq_cst);
	atomic_fetch_or_explicit(&unwind_ban, bits, memory_order_seq_cst);
	ban = atomic_fetch_sub_explicit(&unwind_ban, UNWIND_BAN_PENDING,
					memory_order_seq_cst);
	DEBUG_ASSERT(ban > UNWIND_BAN_BITS);
	(void)ban;
	forbidden_publish();
}

void forbidden_report_start(struct gl_shared *shared)
{
	shared->ban_known = forbidden_bits(
		atomic_load_explicit(&unwind_ban, memory_order_relaxed));
	shared->filters_seen = atomic_load_explicit(&forbidden_filters,
						    memory_order_relaxed);
}

void forbidden_report(struct producer *p)
{
	unwind_ban_found = &producer->ban_found;
	producer->ban_found = &p->shared->ban_found;
	/* pairs with the fence of forbidden_publish: a thread that saw a filter
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
