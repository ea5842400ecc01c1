/*
 * arenas_request.c: see arenas_request.h.
 */
#include "cli/recorder/arenas_request.h"

#include "cli/recorder/turn.h"
#include "preload/ring/ring_shared.h"

void arenas_request(struct recording *r)
{
	struct arenas *arenas = &r->shared->arenas[ARENAS_RUNNING];
	uint32_t state = atomic_load_explicit(&arenas->state,
					      memory_order_acquire);

	if (state == ARENAS_TAKING || state == ARENAS_TAKEN)
		return;
	atomic_store_explicit(&arenas->state, ARENAS_ASKED,
			      memory_order_release);
	turn_request(r->shared);
}

void arenas_forget(struct recording *r)
{
	uint64_t turn = RING_ASKED;

	arenas_change(&r->shared->arenas[ARENAS_RUNNING], ARENAS_ASKED, ARENAS_IDLE);
	atomic_compare_exchange_strong_explicit(&r->shared->turn, &turn, 0,
						memory_order_seq_cst,
						memory_order_relaxed);
}

bool arenas_collect(struct recording *r, enum arenas_which which,
		    struct arenas *to)
{
	struct arenas *arenas = &r->shared->arenas[which];
	unsigned i;

	if (atomic_load_explicit(&arenas->state, memory_order_acquire) !=
	    ARENAS_TAKEN)
		return false;
	to->stamp = arenas->stamp;
	to->cycles = arenas->cycles;
	for (i = 0; i < GT_ARENAS_VALUES; i++)
		to->value[i] = arenas->value[i];
	return arenas_change(arenas, ARENAS_TAKEN, ARENAS_IDLE);
}
