/*
 * gate.c: see gate.h.
 */
#include "preload/ring/gate.h"

#include "arch.h"
#include "preload/base/base.h"
#include "preload/ring/ring_shared.h"

/*
 * Adds 1 to the count if request n is the next to be counted (I2). `word` was
 * read from its slot. If it is from a later use of the slot, request n was
 * counted before, and nothing happens.
 */
static void gate_count_posted(struct gl_shared *shared, uint64_t n,
			      uint64_t word)
{
	uint64_t old = atomic_load_explicit(&shared->gate, memory_order_relaxed);
	uint64_t next;

	do {
		if (gate_count(old) != n)
			return;
		next = old + GATE_ONE;
		if ((word & GATE_WHAT) == GATE_TOGGLE &&
		    !(old & GATE_CLOSED_FOR_GOOD))
			next &= ~GATE_CLOSED;
		/* pairs with the acquire of gate_pending: the slot is filled */
	} while (!atomic_compare_exchange_weak_explicit(
		&shared->gate, &old, next, memory_order_seq_cst,
		memory_order_relaxed));
}

bool gate_post(struct gl_shared *shared, enum gate_what what)
{
	uint64_t taken, n, word, found, turn;

	do {
		/* pairs with the release of gate_take: slots are empty; read
		 * before the count, which is never smaller (I4) */
		taken = atomic_load_explicit(&shared->posted.taken,
					     memory_order_acquire);
		n = gate_count(atomic_load_explicit(&shared->gate,
						    memory_order_acquire));
		if (n - taken >= GATE_SLOTS ||
		    atomic_load_explicit(&shared->mutes, memory_order_relaxed)) {
			atomic_fetch_add_explicit(&shared->posted.refused, 1,
						  memory_order_relaxed);
			return false;
		}
		word = arch_cycles() << GATE_STAMP | what;	/* I1 */
		found = gate_empty(n);				/* I3 */
		if (atomic_compare_exchange_strong_explicit(
			    gate_slot(shared, n), &found, word,
			    memory_order_seq_cst, memory_order_seq_cst))
			found = 0;
		gate_count_posted(shared, n, found ? found : word);
	} while (found);
	DEBUG_ASSERT(gate_is_valid(shared));
	/* the ring that has the turn may have a stamp from before: it must take
	 * a new one */
	turn = ring_turn_of(shared);
	if (turn && turn != RING_ASKED)
		atomic_store_explicit(&shared->turn, 0, memory_order_relaxed);
	return true;
}

void gate_close(struct gl_shared *shared)
{
	/* written by the recorder alone */
	uint64_t taken = atomic_load_explicit(&shared->posted.taken,
					      memory_order_relaxed);
	uint64_t open = taken * GATE_ONE;

	/* fails if more requests were posted, or if it is already closed */
	atomic_compare_exchange_strong_explicit(&shared->gate, &open,
						open | GATE_CLOSED,
						memory_order_seq_cst,
						memory_order_relaxed);
}

void gate_close_for_good(struct gl_shared *shared)
{
	atomic_fetch_or_explicit(&shared->gate,
				 GATE_CLOSED | GATE_CLOSED_FOR_GOOD,
				 memory_order_seq_cst);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool gate_is_valid(const struct gl_shared *shared)
{
	/* I4; both only grow */
	uint64_t before = atomic_load_explicit(&shared->posted.taken,
					       memory_order_seq_cst);
	uint64_t gate = atomic_load_explicit(&shared->gate,
					     memory_order_seq_cst);
	uint64_t after = atomic_load_explicit(&shared->posted.taken,
					      memory_order_seq_cst);

	return before <= gate_count(gate) &&
	       gate_count(gate) <= after + GATE_SLOTS &&
	       (!(gate & GATE_CLOSED_FOR_GOOD) || gate & GATE_CLOSED);
}
#endif
