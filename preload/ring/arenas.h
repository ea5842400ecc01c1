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

#include "preload/format.h"

struct recorder;
struct recording;
struct gl_shared;

enum { ARENAS_IDLE, ARENAS_ASKED, ARENAS_TAKING, ARENAS_TAKEN };

struct arenas {
	_Atomic uint32_t state;
	/* written in TAKING by the thread that set it */
	uint64_t stamp;		/* full counter */
	uint64_t cycles;	/* that it took */
	uint64_t value[GT_ARENAS_VALUES];
};

/* The second is written once, at the program's end. */
enum arenas_which { ARENAS_RUNNING, ARENAS_LAST, ARENAS_WHICH };

static inline bool arenas_change(struct arenas *arenas, uint32_t from, uint32_t to)
{
	/* pairs with the release of arenas_take */
	return atomic_compare_exchange_strong_explicit(
		&arenas->state, &from, to, memory_order_acq_rel,
		memory_order_relaxed);
}

/* Whether the program's allocator can be asked, and may: the program has a
 * single thread, and had no other before. */
enum arenas_can { ARENAS_FOREIGN, ARENAS_THREADS, ARENAS_ALONE };

/* Has the writer know which of them it is. Any thread of the target. */
void arenas_tell(struct gl_shared *shared);

/* A thread is about to be made. */
void arenas_tell_threads(struct gl_shared *shared);

/* Has a thread asked. To be called again and again while it is ASKED: a
 * thread that could not do it leaves that to the next. The writer. */
void arenas_ask(struct recording *r);

/* Takes it back. The writer. */
void arenas_forget(struct recording *r);

/* The figures, if they have been taken. The writer. */
bool arenas_collect(struct recording *r, enum arenas_which which,
		    struct arenas *to);

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
