/*
 * recorder_wait.c: what threads of the target know about the recorder, and how
 * they wait for it. See producer.h.
 *
 * I1: makes no system call except futex, and none that unwind_ban names
 * (forbidden.h): the program may have installed a filter that kills it for all
 * others. Only a thread that finds the recorder dead does what needs more
 * (messages, checks whether a process lives).
 */
#include "preload/ring/producer.h"

#include <errno.h>

#include "preload/base/message.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/gate.h"
#include "preload/ring/timeout.h"

#define RECORDER_WINDOW_NS 2000	/* duration of the live header's window_ticks */
#define RECORDER_CYCLES_NS 4	/* cycles per nanosecond of a fast counter */
#define RECORDER_CYCLES_MOST 8	/* cycles per nanosecond of any counter */
#define RECORDER_WANT_NAP_NS (10 * UINT64_C(1000000))
#define RECORDER_WANT_NAPS 20
#define RECORDER_OPEN_NS (20 * UINT64_C(1000000))
#define RECORDER_OPEN_NAPS 50
#define RECORDER_EXEC_NS (10 * UINT64_C(1000000))
#define RECORDER_EXEC_NAPS 100

struct options producer_options;
_Atomic uint32_t *recording_reported;
__thread struct thread *producer_tls
	__attribute__((tls_model("initial-exec")));

bool producer_is_on(const struct producer *p)
{
	/* pairs with the release of start_undisturbed */
	return p && atomic_load_explicit(&p->state, memory_order_acquire) ==
			    PRODUCER_ON &&
	       p->shared && !gate_is_closed_for_good(p->shared);
}

void recorder_hint_maps(void)
{
	struct gl_shared *shared = producer ? producer->shared : NULL;

	if (shared)
		atomic_fetch_add_explicit(&shared->maps_hints, 1,
					  memory_order_relaxed);
}

void recorder_wake(struct producer *p)
{
	struct gl_shared *shared = p->shared;

	if (unlikely(!shared))
		return;		/* a child (fork_copy.h) */
	forbidden_take_over();
	/* both sequentially consistent, like their counterparts in
	 * recorder_sleep: either the recorder sees the count, or we see it
	 * asleep */
	atomic_fetch_add_explicit(&shared->wake, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&shared->asleep, memory_order_seq_cst) &&
	    unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&shared->wake);
}

uint64_t producer_cycles(const struct producer *p, uint64_t ns)
{
	const struct gl_header *live = p->live;

	if (unlikely(!live))
		return 0;	/* a child (fork_copy.h) */
	if (unlikely(!live->window_ticks))
		return ns * RECORDER_CYCLES_NS;	/* unknown yet */
	/* the program may overwrite these fields: the limit bounds the wait */
	return base_min((ns / RECORDER_WINDOW_NS * live->window_ticks)
				<< (live->tick_shift & 31),
			ns * RECORDER_CYCLES_MOST);
}

void recorder_nap(struct producer *p, const _Atomic uint32_t *word,
		  uint32_t value, uint64_t ns)
{
	uint64_t start, cycles;

	if (unwind_may(UNWIND_NO_WAIT)) {
		sys_futex_wait(word, value, ns);
		return;
	}
	start = arch_cycles();
	cycles = producer_cycles(p, ns);
	while (atomic_load_explicit(word, memory_order_acquire) == value &&
	       arch_cycles() - start < cycles &&
	       !unwind_may(UNWIND_NO_WAIT))
		arch_pause();
}

void producer_set_skip(struct thread *thread, enum thread_skip why, bool on)
{
	uint32_t skip;

	/* A handler on this thread may call this at any point. */
	if (on)
		__atomic_fetch_or(&thread->skip, why, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&thread->skip, ~why, __ATOMIC_RELAXED);
	do {
		skip = __atomic_load_n(&thread->skip, __ATOMIC_RELAXED);
		__atomic_store_n(&thread->ring, skip ? NULL : thread->own,
				 __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
	} while (skip != __atomic_load_n(&thread->skip, __ATOMIC_RELAXED));
}

/* The recorder has not set its tid yet. Waiting threads check it: the recorder
 * may have ended before it could. */
static BASE_SLOW bool recorder_is_coming(struct gl_shared *shared)
{
	uint32_t coming = GL_RECORDER_COMING, pid;

	pid = atomic_load_explicit(&shared->recorder_pid,
				   memory_order_relaxed);
	if (!pid || !unwind_may(SECCOMP_NO_START) ||
	    arch_syscall2(__NR_kill, pid, 0) != -ESRCH)
		return true;
	/* it may have set its tid meanwhile, and ended */
	return !atomic_compare_exchange_strong_explicit(
		       &shared->recorder_tid, &coming, 0,
		       memory_order_relaxed, memory_order_relaxed) &&
	       coming && !(coming & GL_RECORDER_GONE);
}

bool recorder_alive(const struct producer *p)
{
	struct gl_shared *shared = p->shared;
	uint32_t tid = !shared ? 0 :
		       atomic_load_explicit(&shared->recorder_tid,
					    memory_order_relaxed);

	if (unlikely(tid == GL_RECORDER_COMING))
		return recorder_is_coming(shared);
	return tid && !(tid & GL_RECORDER_GONE);
}

void producer_set_off(struct producer *p)
{
	if (p->shared)
		gate_close_for_good(p->shared);
	atomic_store_explicit(&p->state, PRODUCER_OFF, memory_order_release);
}

bool producer_may_report(const struct producer *p)
{
	return !p->forked || !recording_reported ||
	       !atomic_load_explicit(recording_reported, memory_order_relaxed);
}

void producer_has_reported(const struct producer *p)
{
	if (p->forked && recording_reported)
		atomic_store_explicit(recording_reported, 1,
				      memory_order_relaxed);
}

BASE_SLOW void recorder_lost(struct producer *p)
{
	struct gl_shared *shared = p->shared;
	uint32_t tid = atomic_load_explicit(&shared->recorder_tid,
					    memory_order_acquire);
	uint32_t state = atomic_load_explicit(&shared->recorder_state,
					      memory_order_acquire);
	/* static: used once, by one thread with perhaps a small stack */
	static char buffer[GT_PATH_MAX + 256];
	struct text text;

	/* a recorder that has given up has reported why, before it cleared its
	 * tid */
	if ((tid && !(tid & GL_RECORDER_GONE)) || state == GL_RECORDER_DONE ||
	    state == GL_RECORDER_FAILED ||
	    atomic_exchange_explicit(&p->lost, 1, memory_order_relaxed))
		return;
	/* Counts at least the current event: the trace is incomplete. Before
	 * the gate is closed, as later events of other threads are not
	 * counted. */
	atomic_fetch_add_explicit(&p->live->dropped, 1, memory_order_relaxed);
	gate_close_for_good(shared);
	if (!producer_may_report(p))
		return;
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "the recorder was killed: recording has stopped");
	/* else there is no readable trace */
	if (shared->live_path[0] && state == GL_RECORDER_READY) {
		text_put(&text, "; readers of the trace find the last events "
				"in ");
		text_put(&text, shared->live_path);
	}
	message_print(buffer);
	producer_has_reported(p);
}

void recorder_naps(struct producer *p, const _Atomic uint32_t *word,
		   uint32_t value, uint64_t ns, unsigned naps)
{
	/* pairs with the release of the thread that changes it */
	while (naps-- &&
	       atomic_load_explicit(word, memory_order_acquire) == value &&
	       recorder_alive(p))
		recorder_nap(p, word, value, ns);
}

void recorder_wait_exec(struct producer *p)
{
	recorder_naps(p, &p->launching, 1, RECORDER_EXEC_NS,
		      RECORDER_EXEC_NAPS);
}

void recorder_wait_open(void)
{
	const struct gl_shared *shared = producer ? producer->shared : NULL;

	if (shared)
		recorder_naps(producer, &shared->recorder_state,
			      GL_RECORDER_STARTING, RECORDER_OPEN_NS,
			      RECORDER_OPEN_NAPS);
}

/* Whether waiting is useless: a program with only new stacks must not wait for
 * nodes at each. */
static bool recorder_in_vain(const struct producer *p,
			     const struct gl_shared *shared,
			     const _Atomic uint32_t *refused)
{
	return atomic_load_explicit(refused, memory_order_relaxed) ||
	       !recorder_alive(p) || gate_is_closed_for_good(shared);
}

static uint64_t recorder_timeout_ns(void)
{
	return producer_options.number[OPTION_OVERFLOW] ==
			       OPTION_OVERFLOW_DROP ?
		       RECORDER_WANT_NAP_NS * RECORDER_WANT_NAPS : TIMEOUT_NS;
}

void recorder_want(const struct gl_shared *shared,
			  const _Atomic uint32_t *limit,
			  const _Atomic uint32_t *refused)
{
	uint32_t old = atomic_load_explicit(limit, memory_order_acquire);
	struct producer *p = producer;
	struct timeout timeout = timeout_begin(p, recorder_timeout_ns());
	unsigned naps = 0;

	while (naps < RECORDER_WANT_NAPS) {
		if (recorder_in_vain(p, shared, refused) || timeout_given_up(p))
			return;
		recorder_wake(p);
		recorder_nap(p, limit, old, RECORDER_WANT_NAP_NS);
		if (atomic_load_explicit(limit, memory_order_acquire) != old)
			return;
		if (timeout_renewed(p, &timeout))
			naps++;
		else if (timeout_ended(&timeout))
			timeout_give_up(p);
	}
}

void recorder_want_heaps(struct gl_shared *shared, uint32_t heaps)
{
	uint32_t wanted = atomic_load_explicit(&shared->heaps_wanted,
					       memory_order_relaxed);

	while (wanted < heaps &&
	       !atomic_compare_exchange_weak_explicit(
		       &shared->heaps_wanted, &wanted, heaps,
		       memory_order_release, memory_order_relaxed))
		;
	recorder_want(shared, &shared->heap_limit, &shared->heaps_refused);
}
