/*
 * turn.c: see turn.h. The recorder only.
 *
 * The turn pays off for a thread that records much. A thread that records
 * rarely has time to read stamps, and each stamp is worth more there. So a
 * thread gets the turn from TURN_FAR bytes on, and loses it at the next check
 * after it falls silent.
 *
 * I1: the recorder never moves the turn from one ring to another in one step,
 *     and offers it only if it is 0 or that ring's. A concurrent change by a
 *     hook wins (compare and swap).
 */
#include "cli/recorder/turn.h"

#include "preload/ring/gate.h"
#include "preload/ring/ring_shared.h"

#define TURN_LOOK_NS (4 * UINT64_C(1000000))
#define TURN_FAR (16u << 10)	/* bytes: some 100000 events a second */

static void turn_set(struct gl_shared *shared, uint64_t from, uint64_t to)
{
	/* pairs with the exchange in ring_turn; a hook may have been first */
	atomic_compare_exchange_strong_explicit(&shared->turn, &from, to,
						memory_order_seq_cst,
						memory_order_relaxed);
}

void turn_request(struct gl_shared *shared)
{
	turn_set(shared, ring_turn_of(shared), RING_ASKED);
}

/* How far the ring has advanced since the last check. */
static uint64_t turn_moved(struct ring_drain *drain, uint32_t id)
{
	const struct gl_ring *ring = &drain->r->rings[id];
	struct drain_source *own = &drain->rings[id];
	uint64_t head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	uint64_t last = own->looked;

	own->looked = head;
	/* positions start again from 0 with a generation */
	return head >= last ? head - last : head;
}

void turn_poll(struct ring_drain *drain, uint64_t now_ns)
{
	struct recording *r = drain->r;
	uint64_t turn = ring_turn_of(r->shared), alone = 0;
	uint32_t count, id, movers = 0;

	if (now_ns - drain->looked_ns < TURN_LOOK_NS ||
	    gate_is_closed(r->shared))
		return;
	drain->looked_ns = now_ns;
	count = drain_count(drain);
	for (id = 0; id < count; id++) {
		uint64_t moved = turn_moved(drain, id);

		movers += moved != 0;
		if (moved >= TURN_FAR &&
		    !recording_is_nested(r, id))
			alone = recording_ring_address(r, id);
	}
	if (turn == RING_ASKED)
		return;
	if (movers != 1)
		alone = 0;
	if (alone && (!turn || (turn & ~RING_OFFERED) == alone))
		turn_set(r->shared, turn, alone | RING_OFFERED);
	else if (turn)
		turn_set(r->shared, turn, 0);
}
