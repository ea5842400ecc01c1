/*
 * ending.c: see ending.h.
 *
 *	       target                        writer (last_look.c)
 *	last_wanted + 1 ── wake ──▶ last_begun ─▶ looks ─▶ last_done
 *	     └── waits, a few naps at most ◀── wake ──────────┘
 *
 * THE WAIT. The writer mostly needs a millisecond or two. We must not delay a
 * program's end: if the writer makes no progress for ENDING_IDLE naps (stopped,
 * no free processor), no thread waits for it. Once it has begun, it may take up
 * to ENDING_NAPS, which large processes need. Time is counted in naps, because
 * a thread may be forbidden to read any clock.
 *
 * WHO. Several threads may end a process at once. The first does the work; the
 * others wait while it makes progress, since their exit would end it. The same
 * thread may also come twice: the last steps of an exit may call _exit, and so
 * may a handler that interrupts them.
 */
#include "preload/process/ending.h"

#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/patience.h"
#include "unwind/memory.h"

#define ENDING_NAP_NS UINT64_C(1000000)
#define ENDING_IDLE 5		/* naps without progress of the writer */
#define ENDING_BEGINS 50	/* the same, until the recorder runs */
#define ENDING_NAPS 300		/* naps for the writer, in all: reading tens of
				 * thousands of mappings takes long */
#define ENDING_OTHER 50		/* naps without progress of the other thread */
#define ENDING_YOUNG_NS (20 * UINT64_C(1000000))

/* In the area: a forked child finds zeros. */
static struct ending {
	_Atomic uintptr_t thread;	/* its thread pointer; 0: none */
	_Atomic uint32_t steps;		/* its progress */
	_Atomic uint32_t done;		/* futex */
} *ending;

void (*ending_first)(struct recorder *r, _Atomic uint32_t *steps);

void ending_place(void)
{
	ending = area_place(sizeof(*ending));
}

/* The recorder, if it belongs to this process; a vfork child is another
 * process. */
static struct recorder *ending_recorder(void)
{
	struct recorder *r = recorder;

	return recorder_is_on(r) && unwind_may(UNWIND_NO_IDS) &&
			       sys_getpid() == r->pid &&
			       recorder_writer_alive(r) ?
		       r : NULL;
}

/* Naps need a futex or a counter. */
static bool ending_may_wait(void)
{
	const struct thread *thread = recorder_tls;

	return unwind_may(UNWIND_NO_WAIT) ||
	       !(thread && thread->aside & THREAD_MUTE);
}

/* Whether last_begun or last_done has reached `wanted`. */
static bool ending_reached(const _Atomic uint32_t *last, uint32_t wanted)
{
	/* pairs with the release of last_done in last_look_step */
	return (int32_t)(atomic_load_explicit(last, memory_order_acquire) -
			 wanted) >= 0;
}

/*
 * Whether the process is a short-lived forked child. Such children often follow
 * one another, and the parent waits for each: a last snapshot would take as
 * long as the rest of their lives. Their memory is that of their parent.
 */
static bool ending_is_brief(const struct recorder *r)
{
	const struct thread *thread = recorder_tls;

	return r->forked && !(thread && thread->aside & THREAD_MUTE) &&
	       arch_cycles() - r->live->counter0 <
		       recorder_cycles(r, ENDING_YOUNG_NS);
}

/* Whether the recorder does not run yet. */
static bool ending_begins(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->recorder_state,
				    memory_order_acquire) ==
	       GL_RECORDER_STARTING;
}

static uint32_t ending_look(struct recorder *r)
{
	struct gl_shared *shared = r->shared;
	unsigned naps, idle = 0;
	uint64_t beats;
	uint32_t wanted;

	if (!shared || !ending_may_wait() || patience_lost(r))
		return 0;
	/* as ending_is_brief */
	if (r->forked && ending_begins(shared))
		return 0;
	wanted = atomic_fetch_add_explicit(&shared->last_wanted, 1,
					   memory_order_release) + 1;
	recorder_wake(r);
	beats = patience_beats(r);
	for (naps = 0;
	     naps < ENDING_NAPS &&
	     idle < (ending_begins(shared) ? ENDING_BEGINS : ENDING_IDLE);
	     naps++) {
		uint32_t done = atomic_load_explicit(&shared->last_done,
						     memory_order_relaxed);

		if (ending_reached(&shared->last_done, wanted) ||
		    !recorder_writer_alive(r))
			break;
		recorder_nap(r, &shared->last_done, done, ENDING_NAP_NS);
		idle = patience_beats(r) == beats &&
		       !ending_reached(&shared->last_begun, wanted) ?
			       idle + 1 : 0;
		beats = patience_beats(r);
	}
	return wanted;
}

/* Waits until the other thread is done, or makes no progress. */
static void ending_wait(struct recorder *r)
{
	uint32_t steps = 0, seen;
	unsigned idle = 0;

	if (!ending_may_wait())
		return;
	while (idle < ENDING_OTHER &&
	       !atomic_load_explicit(&ending->done, memory_order_acquire)) {
		recorder_nap(r, &ending->done, 0, ENDING_NAP_NS);
		seen = atomic_load_explicit(&ending->steps,
					    memory_order_relaxed);
		idle = seen == steps ? idle + 1 : 0;
		steps = seen;
	}
}

void ending_exit(void)
{
	struct recorder *r = ending_recorder();
	uintptr_t nobody = 0;

	if (!r)
		return;
	if (!atomic_compare_exchange_strong_explicit(
		    &ending->thread, &nobody, arch_thread_pointer(),
		    memory_order_relaxed, memory_order_relaxed)) {
		if (nobody != arch_thread_pointer())
			ending_wait(r);
		return;
	}
	CLAIM_FULL(!atomic_load_explicit(&ending->done, memory_order_relaxed));
	if (ending_first)
		ending_first(r, &ending->steps);
	if (!ending_is_brief(r))
		ending_look(r);
	atomic_store_explicit(&ending->done, 1, memory_order_release);
	if (unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&ending->done);
}

uint32_t ending_exec(void)
{
	struct recorder *r = ending_recorder();

	return r ? ending_look(r) : 0;
}

void ending_failed(uint32_t look)
{
	struct gl_shared *shared = recorder ? recorder->shared : NULL;

	if (look && shared)
		atomic_store_explicit(&shared->last_void, look,
				      memory_order_release);
}
