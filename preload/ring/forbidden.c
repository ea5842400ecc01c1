/*
 * forbidden.c: see forbidden.h.
 *
 * I1  A bit that was added stays: filters cannot be taken away. Only what
 *     forbidden_before sets in advance is taken back by forbidden_after.
 */
#include "preload/ring/forbidden.h"

#include "preload/ring/recorder.h"

/* Bits for what is in force, and how many calls are under way. */
static _Atomic uint32_t forbidden_known;
static _Atomic uint32_t forbidden_pending;
/* Filters that the hooks have seen; those of a parent count. */
static _Atomic uint32_t forbidden_filters;

/* The writer is told. */
static void forbidden_share(uint32_t ban)
{
	struct gl_shared *shared;

	atomic_thread_fence(memory_order_seq_cst);
	shared = recorder ? recorder->shared : NULL;
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
	CLAIM_FULL(atomic_load_explicit(&forbidden_pending,
					memory_order_relaxed) > 0);
	atomic_fetch_sub_explicit(&forbidden_pending, 1, memory_order_seq_cst);
	forbidden_publish();
}

void forbidden_tell_start(struct gl_shared *shared)
{
	shared->ban_known = atomic_load_explicit(&unwind_ban,
						 memory_order_relaxed);
	shared->filters_seen = atomic_load_explicit(&forbidden_filters,
						    memory_order_relaxed);
}

void forbidden_tell(struct recorder *r)
{
	unwind_ban_found = &recorder->ban_found;
	recorder->ban_found = &r->shared->ban_found;
	/* pairs with that of forbidden_share: who has a filter seen sees what
	 * is shared, or it is told here */
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
