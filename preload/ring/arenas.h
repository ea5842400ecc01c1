/*
 * arenas.h: how much memory glibc's allocator holds, and how much of it is
 * free: mallinfo2, called by a program's only thread, where it may call it.
 *
 *	writer                            the target's thread
 *	IDLE ── arenas_ask ──▶ ASKED ── a hook's slow branch ──▶ TAKING
 *	  ▲                      │ patience over                    │
 *	  ├──────────────────────┘                                  ▼
 *	  └──────────────── arenas_collect ────────────────────── TAKEN
 *
 * ASKED stands with RING_ASKED in the recorder's `turn` (ring.h), which the
 * next event of any thread finds: on a branch that is slow already.
 */
#ifndef GNOMON_ARENAS_H
#define GNOMON_ARENAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

struct recorder;

/*
 * How the program's allocator is asked; constant from the first start on, also in
 * children.
 */
struct arenas_source {
	/* fills in all values but the first; NULL: it cannot be asked */
	void (*take)(uint64_t value[GT_ARENAS_VALUES]);
	/* not 0 while the process has no thread but the first; NULL: nobody
	 * knows */
	const volatile char *alone;
};
extern BASE_HIDDEN struct arenas_source arenas_source;

#define ARENAS_BLOCK_NS 600	/* a piece that no cache has */

/* What asking takes at most, about. */
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

/* Has the writer know which of them it is. Any thread of the target. */
void arenas_tell(struct gl_shared *shared);

/* A thread is about to be made. */
void arenas_tell_threads(struct gl_shared *shared);

/*
 * A hook has found RING_ASKED: takes the figures, if its thread is at a safe
 * point. The real function is not running: it has returned, or is yet to be
 * called. Keeps errno. Any thread, also in a signal handler (then it does
 * nothing).
 */
void arenas_answer(struct gl_shared *shared);

/* The program ends in an orderly way: likewise, once, and only if that is
 * short beside the time it has run. */
void arenas_leave(struct recorder *r);

/* Its state, and that what was taken has its stamp. With GNOMON_CLAIMS. */
bool arenas_is_valid(const struct arenas *arenas);

#endif
