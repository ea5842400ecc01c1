/*
 * process_end.c: see process_end.h.
 *
 *	       target                        recorder (final_scan.c)
 *	last_wanted + 1 ── wake ──▶ last_begun ─▶ scans ─▶ last_done
 *	     └── waits, a few naps at most ◀── wake ──────────┘
 *
 * THE WAIT. The recorder mostly needs a millisecond or two. We must not delay a
 * program's end: if the recorder makes no progress for PROCESS_END_IDLE naps
 * (stopped, no free processor), no thread waits for it. Once it has begun, it
 * may take up to PROCESS_END_NAPS, which large processes need. Time is counted
 * in naps, because a thread may be forbidden to read any clock.
 *
 * WHO. Several threads may end a process at once. The first does the work; the
 * others wait while it makes progress, since their exit would end it. The same
 * thread may also come twice: the last steps of an exit may call _exit, and so
 * may a handler that interrupts them.
 */
#include "preload/process/process_end.h"

#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/timeout.h"
#include "unwind/base/memory.h"

#define PROCESS_END_NAP_NS UINT64_C(1000000)
#define PROCESS_END_IDLE 5	/* naps without progress of the recorder */
#define PROCESS_END_BEGINS 50	/* the same, until the recorder runs */
#define PROCESS_END_NAPS 300	/* naps for the recorder, in all: reading tens
				 * of thousands of mappings takes long */
#define PROCESS_END_OTHER 50	/* naps without progress of the other thread */
#define PROCESS_END_YOUNG_NS (20 * UINT64_C(1000000))

/* In the area: a forked child finds zeros. */
static struct process_end {
	_Atomic uintptr_t thread;	/* its thread pointer; 0: none */
	_Atomic uint32_t steps;		/* its progress */
	_Atomic uint32_t done;		/* futex */
} *process_end;

void (*process_end_first)(struct producer *p, _Atomic uint32_t *steps);

void process_end_alloc(void)
{
	process_end = area_place(sizeof(*process_end));
}

/* The recorder, if it belongs to this process; a vfork child is another
 * process. */
static struct producer *process_end_producer(void)
{
	struct producer *p = producer;

	return producer_is_on(p) && unwind_may(UNWIND_NO_IDS) &&
			       sys_getpid() == p->pid &&
			       recorder_alive(p) ?
		       p : NULL;
}

/* Naps need a futex or a counter. */
static bool process_end_may_wait(void)
{
	const struct thread *thread = producer_tls;

	return unwind_may(UNWIND_NO_WAIT) ||
	       !(thread && thread->skip & THREAD_MUTE);
}

/* Whether last_begun or last_done has reached `wanted`. */
static bool process_end_reached(const _Atomic uint32_t *last, uint32_t wanted)
{
	/* pairs with the release of last_done in final_scan_step */
	return (int32_t)(atomic_load_explicit(last, memory_order_acquire) -
			 wanted) >= 0;
}

/*
 * Whether the process is a short-lived forked child. Such children often follow
 * one another, and the parent waits for each: a last snapshot would take as
 * long as the rest of their lives. Their memory is that of their parent.
 */
static bool process_end_is_brief(const struct producer *p)
{
	const struct thread *thread = producer_tls;

	return p->forked && !(thread && thread->skip & THREAD_MUTE) &&
	       arch_cycles() - p->live->counter0 <
		       producer_cycles(p, PROCESS_END_YOUNG_NS);
}

/* Whether the recorder does not run yet. */
static bool process_end_begins(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->recorder_state,
				    memory_order_acquire) ==
	       GL_RECORDER_STARTING;
}

static uint32_t ending_request(struct producer *p)
{
	struct gl_shared *shared = p->shared;
	unsigned naps, idle = 0;
	uint64_t beats;
	uint32_t wanted;

	if (!shared || !process_end_may_wait() || timeout_given_up(p))
		return 0;
	/* as process_end_is_brief */
	if (p->forked && process_end_begins(shared))
		return 0;
	wanted = atomic_fetch_add_explicit(&shared->last_wanted, 1,
					   memory_order_release) + 1;
	recorder_wake(p);
	beats = timeout_beats(p);
	for (naps = 0; naps < PROCESS_END_NAPS &&
		       idle < (process_end_begins(shared) ? PROCESS_END_BEGINS
							  : PROCESS_END_IDLE);
	     naps++) {
		uint32_t done = atomic_load_explicit(&shared->last_done,
						     memory_order_relaxed);

		if (process_end_reached(&shared->last_done, wanted) ||
		    !recorder_alive(p))
			break;
		recorder_nap(p, &shared->last_done, done, PROCESS_END_NAP_NS);
		idle = timeout_beats(p) == beats &&
		       !process_end_reached(&shared->last_begun, wanted) ?
			       idle + 1 : 0;
		beats = timeout_beats(p);
	}
	return wanted;
}

/* Waits until the other thread is done, or makes no progress. */
static void process_end_wait(struct producer *p)
{
	uint32_t steps = 0, seen;
	unsigned idle = 0;

	if (!process_end_may_wait())
		return;
	while (idle < PROCESS_END_OTHER &&
	       !atomic_load_explicit(&process_end->done,
				     memory_order_acquire)) {
		recorder_nap(p, &process_end->done, 0, PROCESS_END_NAP_NS);
		seen = atomic_load_explicit(&process_end->steps,
					    memory_order_relaxed);
		idle = seen == steps ? idle + 1 : 0;
		steps = seen;
	}
}

void process_end_exit(void)
{
	struct producer *p = process_end_producer();
	uintptr_t nobody = 0;

	if (!p)
		return;
	if (!atomic_compare_exchange_strong_explicit(
		    &process_end->thread, &nobody, arch_thread_pointer(),
		    memory_order_relaxed, memory_order_relaxed)) {
		if (nobody != arch_thread_pointer())
			process_end_wait(p);
		return;
	}
	DEBUG_ASSERT(!atomic_load_explicit(&process_end->done,
					   memory_order_relaxed));
	if (process_end_first)
		process_end_first(p, &process_end->steps);
	if (!process_end_is_brief(p))
		ending_request(p);
	atomic_store_explicit(&process_end->done, 1, memory_order_release);
	if (unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&process_end->done);
}

uint32_t process_end_exec(void)
{
	struct producer *p = process_end_producer();

	return p ? ending_request(p) : 0;
}

void process_end_failed(uint32_t scan)
{
	struct gl_shared *shared = producer ? producer->shared : NULL;

	if (scan && shared)
		atomic_store_explicit(&shared->last_void, scan,
				      memory_order_release);
}
