/*
 * gate_requests.c: see gate_requests.h.
 */
#include "cli/recorder/gate_requests.h"

static uint64_t gate_taken(const struct gl_shared *shared)
{
	/* only the recorder writes it */
	return atomic_load_explicit(&shared->posted.taken, memory_order_relaxed);
}

static uint64_t gate_left(const struct gl_shared *shared)
{
	/* pairs with the exchange of gate_count_posted */
	return gate_count(atomic_load_explicit(&shared->gate,
					       memory_order_acquire)) -
	       gate_taken(shared);
}

bool gate_pending(const struct gl_shared *shared)
{
	return gate_left(shared) != 0;
}

bool gate_is_possible(const struct gl_shared *shared)
{
	return gate_left(shared) <= GATE_SLOTS;
}

bool gate_next(struct gl_shared *shared, struct gate_request *request)
{
	uint64_t word;

	if (!gate_pending(shared))
		return false;
	word = atomic_load_explicit(gate_slot(shared, gate_taken(shared)),
				    memory_order_acquire);
	request->what = word & GATE_WHAT;
	request->cycles = word >> GATE_STAMP;
	return true;
}

void gate_take(struct gl_shared *shared)
{
	uint64_t n = gate_taken(shared);

	atomic_store_explicit(gate_slot(shared, n), gate_empty(n + GATE_SLOTS),
			      memory_order_relaxed);
	/* pairs with the acquire of gate_post */
	atomic_store_explicit(&shared->posted.taken, n + 1, memory_order_release);
}

void gate_open(struct gl_shared *shared)
{
	uint64_t old = atomic_load_explicit(&shared->gate, memory_order_relaxed);

	while (!(old & GATE_CLOSED_FOR_GOOD) &&
	       !atomic_compare_exchange_weak_explicit(
		       &shared->gate, &old, old & ~GATE_CLOSED,
		       memory_order_seq_cst, memory_order_relaxed))
		;
}
