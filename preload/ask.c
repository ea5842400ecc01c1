/*
 * ask.c: see ask.h.
 *
 *	         thread            thread             writer
 *	FREE ─────────▶ CLAIMED ─────────▶ POSTED ─────────▶ TAKEN ──▶ DONE
 *	  ▲                                  │ too late                  │
 *	  └──────────────────────────────────┴──────── thread ◀──────────┘
 *
 * A handler that interrupts its own thread between CLAIMED and FREE gets no
 * answer. A fork finds it FREE: the recorder is wiped.
 */
#include "preload/ask.h"

#include "preload/recorder.h"
#include "preload/sys.h"

#define ASK_PATIENCE 100	/* naps */
#define ASK_NAP_NS (20 * UINT64_C(1000000))

enum { ASK_FREE, ASK_CLAIMED, ASK_POSTED, ASK_TAKEN, ASK_DONE };

static bool ask_move(struct ask *ask, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(
		&ask->state, &from, to, memory_order_acq_rel,
		memory_order_acquire);
}

static bool ask_claim(struct recorder *r)
{
	unsigned naps;

	for (naps = 0; naps < ASK_PATIENCE; naps++) {
		uint32_t state = atomic_load_explicit(&r->ask.state,
						      memory_order_relaxed);

		if (ask_move(&r->ask, ASK_FREE, ASK_CLAIMED))
			return true;
		if (!recorder_writer_alive(r))
			return false;
		if (state != ASK_FREE)
			recorder_nap(r, &r->ask.state, state, ASK_NAP_NS);
	}
	return false;
}

/* Whether it was answered. Once taken it is waited for as long as the writer
 * lives: it may be reading what only lives on the caller's stack. */
static bool ask_wait(struct recorder *r)
{
	unsigned naps = 0;

	for (;;) {
		uint32_t state = atomic_load_explicit(&r->ask.state,
						      memory_order_acquire);

		if (state == ASK_DONE)
			return true;
		if (!recorder_writer_alive(r))
			return false;
		if (naps++ >= ASK_PATIENCE &&
		    ask_move(&r->ask, ASK_POSTED, ASK_CLAIMED))
			return false;
		recorder_nap(r, &r->ask.state, state, ASK_NAP_NS);
	}
}

bool ask_writer(struct recorder *r, const struct ask *question, long *result)
{
	bool answered;
	unsigned i;

	if (!r || atomic_load_explicit(&r->state, memory_order_acquire) !=
			  RECORDER_ON ||
	    (r->writer_is_thread && question->what != ASK_CONTROL) ||
	    !ask_claim(r))
		return false;
	r->ask.what = question->what;
	r->ask.number = question->number;
	for (i = 0; i < 6; i++)
		r->ask.arg[i] = question->arg[i];
	/* pairs with the acquire of ask_pending */
	atomic_store_explicit(&r->ask.state, ASK_POSTED, memory_order_release);
	recorder_wake(r);
	answered = ask_wait(r);
	if (answered)
		*result = r->ask.result;
	atomic_store_explicit(&r->ask.state, ASK_FREE, memory_order_release);
	return answered;
}

bool ask_pending(struct ask *ask)
{
	return atomic_load_explicit(&ask->state, memory_order_relaxed) ==
		       ASK_POSTED &&
	       ask_move(ask, ASK_POSTED, ASK_TAKEN);
}

void ask_answered(struct ask *ask, long result)
{
	ask->result = result;
	/* pairs with the acquire of ask_wait */
	atomic_store_explicit(&ask->state, ASK_DONE, memory_order_release);
	sys_futex_wake(&ask->state);
}
