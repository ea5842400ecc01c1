/*
 * arenas.c: see arenas.h.
 *
 * mallinfo2 locks one arena after the other, sums up, and has no other effect:
 * no allocation, no stream, no errno. (malloc_info reports each arena, but
 * writes to a stream: making one takes stdio's lock of all streams. Its holder
 * may wait for a stream that the interrupted thread has locked.)
 *
 * THE SAFE POINT. No thread may hold an arena's lock, or mallinfo2 would wait
 * for it.
 *
 * No other thread holds one, because there is none: glibc reports so, and
 * permanently reports the opposite once it has created one. The single thread
 * itself makes the query, and creates no other meanwhile. A program's threads
 * that are not glibc's own must not be in the allocator at the same time as
 * another thread, since it then takes no locks. (With several threads no query
 * is possible: arena locks have no trylock. A task of ours that waited instead
 * would hold locks of a process to which it does not belong, and leave them
 * locked after a fault or a kill.)
 *
 * The single thread itself can only hold a lock if the hook runs in a signal
 * handler that interrupted the allocator: a hook is before or after the real
 * function. So its stack is walked. The walk must reach the outermost frame
 * without a signal frame, and that must be at the start of the thread's own
 * stack, because a handler may have switched to a fiber. During the query
 * signals are blocked. (Not detected: a handler that jumped out of malloc_trim
 * or the like, which POSIX forbids, and left the lock taken forever.)
 *
 * COST. The query visits each free piece, in an order bad for caches. A free
 * piece is adjacent to a block in use, so there are at least as many blocks;
 * the recorder knows their approximate number.
 *
 * Blocks in per-thread caches (tcache) count as used.
 *
 * I1: `stamp`, `cycles` and `value` are written by the thread that set TAKING,
 * and read while the state is TAKEN.
 */
#include "preload/ring/arenas.h"

#include "preload/base/sys.h"
#include "preload/ring/initial_stack.h"
#include "preload/ring/producer.h"
#include "unwind/base/memory.h"
#include "unwind/base/signals.h"
#include "unwind/walk.h"

#define ARENAS_LEAVE_SHARE 16	/* at most one part in so many of the run
				 * time */
#define ARENAS_OUTERMOST (1u << 20)	/* thread-local data lies beyond it */

struct arenas_source arenas_source;

static enum arenas_can arenas_can(void)
{
	if (!arenas_source.take)
		return ARENAS_FOREIGN;
	return arenas_source.alone && *arenas_source.alone ? ARENAS_ALONE :
							     ARENAS_THREADS;
}

void arenas_report(struct gl_shared *shared)
{
	uint32_t can = arenas_can();

	/* written only on change: all threads read the line */
	if (atomic_load_explicit(&shared->arenas_can, memory_order_relaxed) !=
	    can)
		atomic_store_explicit(&shared->arenas_can, can,
				      memory_order_relaxed);
}

void arenas_report_threads(struct gl_shared *shared)
{
	if (atomic_load_explicit(&shared->arenas_can, memory_order_relaxed) ==
	    ARENAS_ALONE)
		atomic_store_explicit(&shared->arenas_can, ARENAS_THREADS,
				      memory_order_relaxed);
}

/* Whether the query is short compared with the run time. Uses no clock:
 * window_ticks gives 2 us in units of the counter. */
static bool arenas_short(const struct producer *p)
{
	const struct gl_header *live = p->live;
	uint64_t windows = arenas_estimate_ns(p->shared) / 2000;
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

	/* a filter that kills for this call, or rather for one of its kind */
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
		return;		/* RING_ASKED was for another request */
	/* some threads are created without a hook */
	arenas_report(shared);
	if (arenas_can() != ARENAS_ALONE || !arenas_safe())
		return;
	/* signals cannot be blocked while single-stepped */
	if (arch_is_stepped() || !signals_hold(&held))
		return;
	if (arenas_change(arenas, from, ARENAS_TAKING)) {
		arenas->stamp = arch_cycles();
		arenas_source.take(arenas->value);
		arenas->cycles = arch_cycles() - arenas->stamp;
		DEBUG_ASSERT(arenas_is_valid(arenas));
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

void arenas_leave(struct producer *p)
{
	if (arenas_short(p))
		arenas_take(p->shared, ARENAS_LAST, ARENAS_IDLE);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool arenas_is_valid(const struct arenas *arenas)
{
	uint32_t state = atomic_load_explicit(&arenas->state,
					      memory_order_relaxed);

	/* I1 */
	return state <= ARENAS_TAKEN &&
	       (state < ARENAS_TAKING || arenas->stamp);
}
#endif
