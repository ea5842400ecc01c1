/*
 * arenas.h: statistics of glibc's allocator: memory held and memory free, by
 * mallinfo2. The program's only thread calls it at a safe point.
 *
 *	recorder                          the target's thread
 *	IDLE ── arenas_request ──▶ ASKED ── a hook's slow branch ──▶ TAKING
 *	  ▲                      │ time is up                       │
 *	  ├──────────────────────┘                                  ▼
 *	  └──────────────── arenas_collect ────────────────────── TAKEN
 *
 * In ASKED, RING_ASKED is set in the recorder's `turn` (ring.h). The next event
 * of any thread finds it, on a branch that is slow already.
 */
#ifndef GNOMON_ARENAS_H
#define GNOMON_ARENAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

struct producer;

/*
 * How to query the program's allocator; constant from the first start on, also
 * in children.
 */
struct arenas_source {
	/* fills in all values except the first; NULL: no query possible */
	void (*take)(uint64_t value[GT_ARENAS_VALUES]);
	/* not 0 while the process has only its first thread; NULL: unknown */
	const volatile char *alone;
};
extern BASE_HIDDEN struct arenas_source arenas_source;

#define ARENAS_BLOCK_NS 600	/* per free piece, not in any cache */

/* The longest time that a query may take, roughly. */
static inline uint64_t arenas_estimate_ns(const struct gl_shared *shared)
{
	return ARENAS_BLOCK_NS * atomic_load_explicit(&shared->live_blocks,
						      memory_order_relaxed);
}

static inline bool arenas_change(struct arenas *arenas, uint32_t from, uint32_t to)
{
	/* pairs with the release of arenas_take */
	return atomic_compare_exchange_strong_explicit(
		&arenas->state, &from, to, memory_order_acq_rel,
		memory_order_relaxed);
}

/* Publishes enum arenas_can to the recorder. Any thread of the target. */
void arenas_report(struct gl_shared *shared);

/* A thread is about to be created. */
void arenas_report_threads(struct gl_shared *shared);

/*
 * Called when a hook has found RING_ASKED: takes the statistics, if its thread
 * is at a safe point. The real function is not running: it has returned, or has
 * not been called yet. Keeps errno. Any thread; does nothing in a signal
 * handler.
 */
void arenas_answer(struct gl_shared *shared);

/* Takes the statistics when the program exits normally, once, and only if the
 * query is short compared with the run time. */
void arenas_leave(struct producer *p);

/* Checks the state, and that taken statistics have a stamp. With
 * GNOMON_DEBUG_ASSERTS. */
bool arenas_is_valid(const struct arenas *arenas);

#endif
