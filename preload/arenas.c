/*
 * arenas.c: see arenas.h.
 *
 * mallinfo2 takes the lock of one arena after the other, sums up and writes
 * nothing else: no memory, no stream, no errno. (malloc_info would say it for
 * each arena, but writes to a stream: making one takes stdio's lock of all
 * streams, for which a thread may wait that waits for a stream that the
 * interrupted one has locked.)
 *
 * THE SAFE POINT. The thread must not hold an arena's lock. It is in a hook of
 * ours, before or after the real function; so it could only hold one if the
 * hook runs in a signal handler that interrupted the allocator. So its stack
 * is walked: it must lead to its outermost frame without a signal's. While it
 * is asked, no signal is let in.
 *
 * Blocks that threads keep for themselves (tcache) count as used there.
 *
 * I1: `stamp`, `cycles` and `value` are written by who made it TAKING, and
 *     read while it is TAKEN.
 */
#include "preload/arenas.h"

#include <malloc.h>
#include <signal.h>

#include "preload/real.h"
#include "preload/ring.h"
#include "preload/sys.h"
#include "unwind/memory.h"
#include "unwind/walk.h"

#define ARENAS_SIGNALS 8	/* bytes of the kernel's signal set */

bool arenas_known(void)
{
	return real.mallinfo != NULL;
}

static bool arenas_change(struct arenas *arenas, uint32_t from, uint32_t to)
{
	/* pairs with the release of arenas_take */
	return atomic_compare_exchange_strong_explicit(
		&arenas->state, &from, to, memory_order_acq_rel,
		memory_order_relaxed);
}

void arenas_ask(struct recorder *r)
{
	struct arenas *arenas = &r->arenas[ARENAS_RUNNING];
	uint64_t turn = ring_turn_of(r);
	uint32_t state = atomic_load_explicit(&arenas->state,
					      memory_order_acquire);

	if (state == ARENAS_TAKING || state == ARENAS_TAKEN)
		return;
	atomic_store_explicit(&arenas->state, ARENAS_ASKED,
			      memory_order_release);
	/* whoever has the turn loses it; if a hook was first, next time */
	if (turn != RING_ASKED)
		atomic_compare_exchange_strong_explicit(
			&r->turn, &turn, RING_ASKED, memory_order_seq_cst,
			memory_order_relaxed);
}

void arenas_forget(struct recorder *r)
{
	uint64_t turn = RING_ASKED;

	arenas_change(&r->arenas[ARENAS_RUNNING], ARENAS_ASKED, ARENAS_IDLE);
	atomic_compare_exchange_strong_explicit(&r->turn, &turn, 0,
						memory_order_seq_cst,
						memory_order_relaxed);
}

bool arenas_collect(struct recorder *r, enum arenas_which which,
		    struct arenas *to)
{
	struct arenas *arenas = &r->arenas[which];
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

static void arenas_fill(struct arenas *arenas, const struct mallinfo2 *info)
{
	arenas->value[GT_ARENAS_SYSTEM] = info->arena;
	arenas->value[GT_ARENAS_FREE] = info->fordblks;
	arenas->value[GT_ARENAS_FREE_COUNT] = info->ordblks;
	arenas->value[GT_ARENAS_FAST] = info->fsmblks;
	arenas->value[GT_ARENAS_FAST_COUNT] = info->smblks;
	arenas->value[GT_ARENAS_TOP] = info->keepcost;
	arenas->value[GT_ARENAS_MMAPPED] = info->hblkhd;
	arenas->value[GT_ARENAS_MMAPPED_COUNT] = info->hblks;
}

static void arenas_take(struct arenas *arenas, uint32_t from)
{
	uint64_t all = ~UINT64_C(0), old;
	struct mallinfo2 info;

	/* a filter that forbids this call on pain of death, or rather one
	 * of its kind */
	if (!arenas_known() || !unwind_may(UNWIND_NO_PROBE) ||
	    !walk_leaves_no_signal())
		return;
	if (arch_syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all,
			  (long)&old, ARENAS_SIGNALS))
		return;
	if (arenas_change(arenas, from, ARENAS_TAKING)) {
		arenas->stamp = arch_cycles();
		info = real.mallinfo();
		arenas->cycles = arch_cycles() - arenas->stamp;
		arenas_fill(arenas, &info);
		/* pairs with the acquire of arenas_collect (I1) */
		atomic_store_explicit(&arenas->state, ARENAS_TAKEN,
				      memory_order_release);
	}
	/* it was accepted a moment ago */
	arch_syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&old, 0,
		      ARENAS_SIGNALS);
}

void arenas_answer(struct recorder *r)
{
	arenas_take(&r->arenas[ARENAS_RUNNING], ARENAS_ASKED);
}

void arenas_leave(struct recorder *r)
{
	arenas_take(&r->arenas[ARENAS_LAST], ARENAS_IDLE);
}
