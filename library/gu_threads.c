/*
 * gu_threads.c: a thread gets a state at its first capture. States are reused
 * for later threads.
 *
 *	        gu_threads_self               gu_threads_leave
 *	free ────────────────▶ owned ──────────────────▶ free
 *	                       ▲     │ thread ends without gu_thread_end
 *	                       └─────┘ found dead: the next thread owns it
 *
 * Threads need no hook at their end: tgkill says whether an owner lives. (A C
 * library key with a destructor was rejected: it may allocate, and is not
 * async-signal-safe.) Each new thread checks only a few states, in turn. So the
 * cost per thread does not depend on the number of threads.
 *
 * I1  The thread whose id is in `owner` has the state. A new state gets its
 *     owner before it is published. A thread takes an existing state by
 *     compare-and-swap, and only the owner stores 0.
 * I2  `owner` holds process and thread id, so tgkill also answers for a task
 *     of another process that shares our memory. Dead: there is no such task.
 * I3  One thread attaches once at a time; a handler that interrupts it gets no
 *     state.
 *
 * Thread context: any thread, also signal handlers.
 */
#include "library/gu_threads.h"

#include <asm/unistd.h>
#include <errno.h>
#include <stdatomic.h>

#include "arch.h"
#include "unwind/abandoned.h"
#include "unwind/base/assertion.h"

#define ASKED_AT_ONCE 16u	/* states checked for a dead owner */

/* How far below its thread pointer a thread's stack may reach. */
#define STACK_MAX (UINT64_C(64) << 20)

__thread struct gu_thread *gu_self __attribute__((tls_model("initial-exec")));
__thread uint32_t gu_self_setup __attribute__((tls_model("initial-exec")));

/* The call that makes gu_self (I3). */
static __thread struct gu_mark attaching
	__attribute__((tls_model("initial-exec")));

static uint64_t own_number(void)
{
	return (uint64_t)arch_syscall0(__NR_getpid) << 32 |
	       (uint64_t)arch_syscall0(__NR_gettid);
}

static bool is_dead(uint64_t owner)
{
	return arch_syscall3(__NR_tgkill, (long)(owner >> 32),
			     (long)(uint32_t)owner, 0) == -ESRCH;
}

static bool take(struct gu_thread *t, uint64_t from, uint64_t own)
{
	/* Pairs with the release of gu_threads_leave. */
	return atomic_compare_exchange_strong_explicit(
		&t->owner, &from, own, memory_order_acquire,
		memory_order_relaxed);
}

uint32_t gu_threads_count(void)
{
	uint32_t n = atomic_load_explicit(&gu_state->thread_count,
					  memory_order_acquire);

	return n < GU_THREADS_MAX ? n : GU_THREADS_MAX;
}

struct gu_thread *gu_threads_get(uint32_t i)
{
	/* Pairs with the release in make. */
	return atomic_load_explicit(&gu_state->threads[i],
				    memory_order_acquire);
}

bool gu_threads_owned(const struct gu_thread *t)
{
	return atomic_load_explicit(&t->owner, memory_order_relaxed) != 0;
}

/* A free state, or a dead thread's. */
static struct gu_thread *find_free(uint64_t own)
{
	uint32_t i, start, n = gu_threads_count();
	struct gu_thread *t;
	uint64_t owner;

	for (i = 0; i < n; i++) {
		t = gu_threads_get(i);
		if (t && !gu_threads_owned(t) && take(t, 0, own))
			return t;
	}
	start = atomic_fetch_add_explicit(&gu_state->thread_next, ASKED_AT_ONCE,
					  memory_order_relaxed);
	for (i = 0; i < n && i < ASKED_AT_ONCE; i++) {
		t = gu_threads_get((start + i) % n);
		if (!t)
			continue;
		owner = atomic_load_explicit(&t->owner, memory_order_relaxed);
		/* Our own number: an earlier thread had our tid. */
		if (owner && (owner == own || is_dead(owner)) &&
		    take(t, owner, own))
			return t;
	}
	return NULL;
}

static struct gu_thread *make(uint64_t own)
{
	struct gu_thread *t;
	uint32_t i;

	/* The area has no free: only threads that race for the last state lose
	 * one. */
	if (gu_area_scarce() || gu_threads_count() == GU_THREADS_MAX)
		return NULL;
	t = gu_area_alloc(sizeof(*t));
	if (!t)
		return NULL;
	i = atomic_fetch_add_explicit(&gu_state->thread_count, 1,
				      memory_order_relaxed);
	if (i >= GU_THREADS_MAX) {
		atomic_store_explicit(&gu_state->thread_count, GU_THREADS_MAX,
				      memory_order_relaxed);
		return NULL;
	}
	atomic_store_explicit(&t->owner, own, memory_order_relaxed);
	/* Pairs with the acquire of gu_threads_get. */
	atomic_store_explicit(&gu_state->threads[i], t, memory_order_release);
	return t;
}

/*
 * The main thread is known by its id. But the only thread of a child that
 * another thread forked has that id, too. Its stack ends at its thread pointer,
 * as every stack does except the main thread's.
 */
static void settle(struct gu_thread *t, uint64_t own, uintptr_t sp)
{
	uintptr_t tp = arch_thread_pointer();

	t->is_main = (uint32_t)own == own >> 32 &&
		     (sp > tp || tp - sp > STACK_MAX);
	if (t->capture)
		capture_thread_reset(t->capture, t->is_main);
	else if (!gu_area_scarce())
		t->capture = capture_thread_new(t->is_main, NULL);
}

static struct gu_thread *attach(uintptr_t sp)
{
	uint64_t own = own_number();
	struct gu_thread *t = find_free(own);

	if (!t)
		t = make(own);
	if (!t)
		return NULL;
	settle(t, own, sp);
	atomic_store_explicit(&t->sampling.sp, GU_IDLE, memory_order_relaxed);
	atomic_store_explicit(&t->busy.sp, GU_IDLE, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	gu_self_setup = atomic_load_explicit(&gu_setups, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	gu_self = t;
	return t;
}

struct gu_thread *gu_threads_self(uintptr_t sp, uintptr_t ra)
{
	struct gu_thread *t = gu_threads_own();
	bool left;

	if (t && atomic_load_explicit(&t->busy.sp, memory_order_relaxed) !=
			 GU_WIPED)
		return t;
	if (!gu_mark_take(&attaching, NULL, sp, ra, &left))
		return NULL;
	t = attach(sp);
	gu_mark_release(&attaching);
	return t;
}

void gu_threads_leave(void)
{
	struct gu_thread *t = gu_threads_own();

	gu_self = NULL;
	if (!t || atomic_load_explicit(&t->busy.sp, memory_order_relaxed) ==
			  GU_WIPED)
		return;
	DEBUG_ASSERT(atomic_load_explicit(&t->owner, memory_order_relaxed) ==
		     own_number());	/* I1 */
	/* Pairs with the acquire of take. */
	atomic_store_explicit(&t->owner, 0, memory_order_release);
}

bool gu_mark_take(struct gu_mark *mark, const struct capture_thread *capture,
		  uintptr_t sp, uintptr_t ra, bool *left)
{
	uintptr_t owner = atomic_load_explicit(&mark->sp,
					       memory_order_relaxed);

	*left = owner > GU_IDLE;
	if (*left && (!mark->ra || !abandoned(capture, owner, mark->ra, sp)))
		return false;
	/* Only handlers on this thread read it, and they have left again. */
	gu_mark_enter(mark, ra, sp);
	return true;
}
