/*
 * control_call.c: sends a control request (control.c), and helps with its
 * execution if needed.
 */
#include "preload/ring/control_call.h"

#include <errno.h>

#include "preload/ring/request.h"
#include "preload/ring/producer.h"
#include "preload/ring/ring.h"

#define CONTROL_NAP_NS (2 * UINT64_C(1000000))
#define CONTROL_NAPS 5000	/* longest wait for an answer */

/* The calling thread is the only one that may query the allocator: takes the
 * statistics here. */
static void control_lend_hand(struct gl_shared *shared)
{
	uint64_t asked = RING_ASKED;

	if (ring_turn_of(shared) == asked &&
	    atomic_compare_exchange_strong_explicit(&shared->turn, &asked, 0,
						    memory_order_seq_cst,
						    memory_order_relaxed))
		ring_answer(shared);
}

static void control_await(struct producer *p, struct gl_shared *shared,
			  uint32_t number)
{
	unsigned naps;

	for (naps = 0; naps < CONTROL_NAPS; naps++) {
		uint32_t taken = atomic_load_explicit(&shared->snapshots,
						      memory_order_acquire);

		if ((int32_t)(taken - number) >= 0 ||
		    !recorder_alive(p))
			return;
		control_lend_hand(shared);
		recorder_nap(p, &shared->snapshots, taken, CONTROL_NAP_NS);
	}
}

static_assert(sizeof(struct control_request) <= GL_REQUEST_ROOM,
	      "a request goes by value");

bool control_call(struct control_request *request)
{
	const struct request_args args = { .what = REQUEST_CONTROL,
					       .data = request,
					       .back = request,
					       .bytes = sizeof(*request) };
	struct producer *p = producer;
	struct gl_shared *shared;
	unsigned naps;
	long unused;

	if (!producer_is_on(p) || !(shared = p->shared))
		return false;
	for (naps = 0; naps < CONTROL_NAPS; naps++) {
		if (!request_make(p, &args, &unused))
			return false;
		if (request->err != -EAGAIN)
			break;
		control_lend_hand(shared);
		recorder_nap(p, &shared->asleep, 1, CONTROL_NAP_NS);
	}
	if (request->what == CONTROL_SNAPSHOT && !request->err)
		control_await(p, shared, request->number);
	return true;
}
