/*
 * arenas.c: see arenas.h.
 *
 * mallinfo2 takes the lock of one arena after the other, sums up and writes
 * nothing else: no memory, no stream, no errno. (malloc_info would say it for
 * each arena, but writes to a stream: making one takes stdio's lock of all
 * streams, for which a thread may wait that waits for a stream that the
 * interrupted one has locked.)
 *
 * THE SAFE POINT. Nobody may hold an arena's lock, or it would be waited for.
 *
 * No other thread holds one, because there is none: glibc says so, and it says
 * the opposite for ever once it has made one. Who asks is that single thread;
 * it is here and makes no other meanwhile. What a program has of threads that
 * are not glibc's own may not be in the allocator when another one is: that
 * takes no locks then. (Others cannot be asked to wait less: nobody can try an
 * arena's lock. A task of ours that waits in their place would hold locks in a
 * process that it is no thread of, where a fault, or a kill, would leave them
 * taken.)
 *
 * This thread could only hold one if the hook runs in a signal handler that
 * interrupted the allocator: a hook is before or after the real function. So
 * its stack is walked: it must lead to its outermost frame without a signal's,
 * and that must lie where the thread's own stack begins: of a fiber's, a
 * handler may have switched to it. While it is asked, no signal is let in.
 * (Not seen: a handler that jumped out of malloc_trim or its like, which POSIX
 * does not allow, has left the lock taken for good.)
 *
 * WHAT IT COSTS. Each free piece is visited, in no order that a cache likes. A
 * free piece lies beside a block in use, so of these there are as many or
 * more; the writer knows about how many there are.
 *
 * Blocks that threads keep for themselves (tcache) count as used there.
 *
 * I1: `stamp`, `cycles` and `value` are written by who made it TAKING, and
 *     read while it is TAKEN.
 */
#include "preload/ring/arenas.h"

#include "preload/base/sys.h"
#include "preload/ring/initial.h"
#include "preload/ring/recorder.h"
#include "unwind/memory.h"
#include "unwind/signals.h"
#include "unwind/walk.h"

#define ARENAS_LEAVE_SHARE 16	/* of the program's life, at its end */
#define ARENAS_OUTERMOST (1u << 20)	/* thread-local data lies beyond it */

struct arenas_source arenas_source;

static enum arenas_can arenas_can(void)
{
	if (!arenas_source.take)
		return ARENAS_FOREIGN;
	return arenas_source.alone && *arenas_source.alone ? ARENAS_ALONE :
							     ARENAS_THREADS;
}

void arenas_tell(struct gl_shared *shared)
{
	uint32_t can = arenas_can();

	/* all threads have the line */
	if (atomic_load_explicit(&shared->arenas_can, memory_order_relaxed) !=
	    can)
		atomic_store_explicit(&shared->arenas_can, can,
				      memory_order_relaxed);
}

void arenas_tell_threads(struct gl_shared *shared)
{
	if (atomic_load_explicit(&shared->arenas_can, memory_order_relaxed) ==
	    ARENAS_ALONE)
		atomic_store_explicit(&shared->arenas_can, ARENAS_THREADS,
				      memory_order_relaxed);
}

/* Whether asking is short beside the time that the program has run. No clock
 * is asked: the window is 2 us of the counter. */
static bool arenas_short(const struct recorder *r)
{
	const struct gl_header *live = r->live;
	uint64_t windows = arenas_estimate_ns(r->shared) / 2000;
	uint64_t ticks = (arch_cycles() - live->counter0) >> live->tick_shift;

	return windows * live->window_ticks <= ticks / ARENAS_LEAVE_SHARE;
}

static bool arenas_begins(uintptr_t sp, uintptr_t stack_end)
{
	return stack_end - sp < ARENAS_OUTERMOST;
}

static bool arenas_safe(void)
{
	uintptr_t sp;

	/* a filter that forbids this call on pain of death, or rather one
	 * of its kind */
	if (!unwind_may(UNWIND_NO_PROBE))
		return false;
	sp = walk_leaves_no_signal();
	return sp && (arenas_begins(sp, initial.stack_end) ||
		      arenas_begins(sp, arch_thread_pointer()));
}

static void arenas_take(struct gl_shared *shared, enum arenas_which which,
			uint32_t from)
{
	struct arenas *arenas = &shared->arenas[which];
	struct signals_held held;

	if (atomic_load_explicit(&arenas->state, memory_order_relaxed) != from)
		return;		/* something else was asked for */
	/* some threads are made without a hook's knowledge */
	arenas_tell(shared);
	if (arenas_can() != ARENAS_ALONE || !arenas_safe())
		return;
	/* handlers that are stepped through cannot be kept out */
	if (arch_is_stepped() || !signals_hold(&held))
		return;
	if (arenas_change(arenas, from, ARENAS_TAKING)) {
		arenas->stamp = arch_cycles();
		arenas_source.take(arenas->value);
		arenas->cycles = arch_cycles() - arenas->stamp;
		CLAIM_FULL(arenas_is_valid(arenas));
		/* pairs with the acquire of arenas_collect (I1) */
		atomic_store_explicit(&arenas->state, ARENAS_TAKEN,
				      memory_order_release);
	}
	signals_release(&held);
}

void arenas_answer(struct gl_shared *shared)
{
	arenas_take(shared, ARENAS_RUNNING, ARENAS_ASKED);
}

void arenas_leave(struct recorder *r)
{
	if (arenas_short(r))
		arenas_take(r->shared, ARENAS_LAST, ARENAS_IDLE);
}

#ifdef GNOMON_CLAIMS
bool arenas_is_valid(const struct arenas *arenas)
{
	uint32_t state = atomic_load_explicit(&arenas->state,
					      memory_order_relaxed);

	/* I1 */
	return state <= ARENAS_TAKEN &&
	       (state < ARENAS_TAKING || arenas->stamp);
}
#endif
