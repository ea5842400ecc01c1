/*
 * gate.c: see gate.h.
 */
#include "preload/gate.h"

#include "preload/ring.h"

#define GATE_WHAT UINT64_C(3)	/* of a slot; the rest is its stamp, or lap */
#define GATE_STAMP 2

static uint64_t gate_count(uint64_t gate)
{
	return gate / GATE_ONE;
}

static _Atomic uint64_t *gate_slot(struct recorder *r, uint64_t n)
{
	return &r->posted.slot[n % GATE_SLOTS];
}

static uint64_t gate_empty(uint64_t n)
{
	return n / GATE_SLOTS << GATE_STAMP;
}

/* Counts request n, which is in its slot, if nobody has done so (I2). Nothing
 * happens if `word` is another lap's: then it was counted long ago. */
static void gate_let(struct recorder *r, uint64_t n, uint64_t word)
{
	uint64_t old = atomic_load_explicit(&r->gate, memory_order_relaxed);
	uint64_t next;

	do {
		if (gate_count(old) != n)
			return;
		next = old + GATE_ONE;
		if ((word & GATE_WHAT) == GATE_TOGGLE && !(old & GATE_OFF))
			next &= ~GATE_SHUT;
		/* pairs with the acquire of gate_pending: the slot is filled */
	} while (!atomic_compare_exchange_weak_explicit(
		&r->gate, &old, next, memory_order_seq_cst,
		memory_order_relaxed));
}

bool gate_post(struct recorder *r, enum gate_what what)
{
	uint64_t taken, n, word, found, turn;

	do {
		/* pairs with the release of gate_take: slots are empty; before
		 * the count, which is never less */
		taken = atomic_load_explicit(&r->posted.taken,
					     memory_order_acquire);
		n = gate_count(atomic_load_explicit(&r->gate,
						    memory_order_acquire));
		if (n - taken >= GATE_SLOTS ||
		    atomic_load_explicit(&r->mutes, memory_order_relaxed)) {
			atomic_fetch_add_explicit(&r->posted.late, 1,
						  memory_order_relaxed);
			return false;
		}
		word = arch_cycles() << GATE_STAMP | what;	/* I1 */
		found = gate_empty(n);				/* I3 */
		if (atomic_compare_exchange_strong_explicit(
			    gate_slot(r, n), &found, word,
			    memory_order_seq_cst, memory_order_seq_cst))
			found = 0;
		gate_let(r, n, found ? found : word);
	} while (found);
	/* who has the turn may have a stamp from before: it takes a new one */
	turn = ring_turn_of(r);
	if (turn && turn != RING_ASKED)
		atomic_store_explicit(&r->turn, 0, memory_order_relaxed);
	return true;
}

static uint64_t gate_taken(const struct recorder *r)
{
	/* the writer's own */
	return atomic_load_explicit(&r->posted.taken, memory_order_relaxed);
}

bool gate_pending(const struct recorder *r)
{
	/* pairs with the exchange of gate_let */
	return gate_count(atomic_load_explicit(&r->gate,
					       memory_order_acquire)) !=
	       gate_taken(r);
}

bool gate_next(struct recorder *r, struct gate_request *request)
{
	uint64_t word;

	if (!gate_pending(r))
		return false;
	word = atomic_load_explicit(gate_slot(r, gate_taken(r)),
				    memory_order_acquire);
	request->what = word & GATE_WHAT;
	request->cycles = word >> GATE_STAMP;
	return true;
}

void gate_take(struct recorder *r)
{
	uint64_t n = gate_taken(r);

	atomic_store_explicit(gate_slot(r, n), gate_empty(n + GATE_SLOTS),
			      memory_order_relaxed);
	/* pairs with the acquire of gate_post */
	atomic_store_explicit(&r->posted.taken, n + 1, memory_order_release);
}

void gate_shut(struct recorder *r)
{
	uint64_t open = gate_taken(r) * GATE_ONE;

	/* fails if more were posted, and if it is shut already */
	atomic_compare_exchange_strong_explicit(&r->gate, &open,
						open | GATE_SHUT,
						memory_order_seq_cst,
						memory_order_relaxed);
}

void gate_open(struct recorder *r)
{
	uint64_t old = atomic_load_explicit(&r->gate, memory_order_relaxed);

	while (!(old & GATE_OFF) &&
	       !atomic_compare_exchange_weak_explicit(
		       &r->gate, &old, old & ~GATE_SHUT, memory_order_seq_cst,
		       memory_order_relaxed))
		;
}

void gate_shut_for_good(struct recorder *r)
{
	atomic_fetch_or_explicit(&r->gate, GATE_SHUT | GATE_OFF,
				 memory_order_seq_cst);
}
