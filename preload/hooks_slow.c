/*
 * hooks_slow.c: the slow half of the hooks. See hooks.h.
 *
 * I1: what finds the ring busy goes into the thread's second ring, unless the
 *     busy mark is stale, or the real function of this very hook came back to
 *     another one.
 */
#include "preload/aside.h"
#include "preload/guard.h"
#include "preload/hooks.h"
#include "preload/patch.h"

#define HOOKS_TRIALS 64	/* headers compared before they are believed */

struct thread *hooks_thread(uintptr_t sp)
{
	struct thread *thread = recorder_thread();

	if (!thread)
		return NULL;
	if (!ring_idle(thread->own) && ring_stale(thread, thread->own, sp)) {
		/* a handler jumped out of a hook: what capture remembers of
		 * this thread may be half written */
		if (thread->capture)
			capture_thread_drop(thread->capture);
		/* it may have got the turn, and no stamp yet (I4 of ring.h) */
		thread->own->stamp = ring_cycles();
		ring_leave(thread->own);
	}
	return thread;
}

/* The real function that this thread is in has called another hook. */
static bool hooks_reentered(const struct thread *thread, unsigned kind,
			    uintptr_t ra)
{
	uint64_t busy = atomic_load_explicit(&thread->own->busy,
					     memory_order_relaxed);

	if (!(busy & RING_IN_REAL))
		return false;
	if (ra - real.own_start < real.own_size || patch_inside(ra))
		return true;
	return ra - real.reenter_start < real.reenter_size &&
	       !(kind == GT_FREE && busy & RING_IN_NEW);
}

/* A hook has interrupted a hook: the stack is walked plainly. */
static void hooks_nested(struct thread *thread, struct ring_event *event,
			 struct hooks_caller caller)
{
	event->stamp = ring_cycles();
	event->context = capture_stack_plain(caller.ra, caller.sp, caller.fp);
	if (!event->context)
		event->kind &= ~GL_KIND_STACK;
	ring_nested_push(recorder, thread, event);
}

/* Of the allocator's own blocks (not a pool's): where they were allocated. */
static void hooks_note(const struct thread *thread, uint64_t word1,
		       uint32_t context)
{
	uint64_t block = gl_block(word1);

	if (thread->aside & THREAD_NOTES && block <= GL_ADDRESS_MASK)
		guard_note(block, context);
}

/* As ring_stamp, of a thread whose events may have been told to happen later:
 * until then all of them happen at that time. */
static void hooks_stamp(struct thread *thread, struct gl_ring *ring)
{
	ring_stamp(recorder, ring);
	if (likely(!(thread->aside & THREAD_TIMED)))
		return;
	ring->stamp = ring_cycles();
	if (ring->stamp < thread->timed)
		ring->stamp = thread->timed;
	else
		recorder_put_aside(thread, THREAD_TIMED, false);
}

static void hooks_push_address(struct thread *thread, unsigned kind,
			       uintptr_t block, uintptr_t ra, uintptr_t sp)
{
	struct ring_event event = { .kind = kind, .address = block };
	struct gl_ring *ring = thread->own;

	if (!ring_idle(ring)) {
		event.stamp = ring_cycles();
		ring_nested_push(recorder, thread, &event);
		return;
	}
	ring_enter(ring, sp, ra);
	hooks_stamp(thread, ring);
	ring_push_address(recorder, ring, kind, ring->stamp, block);
	ring_leave(ring);
}

/* A block is about to end: those that were made since are no longer a secret
 * (aside.c). */
static void hooks_tell_passed(struct thread *thread, unsigned kind,
			      uintptr_t block, uintptr_t ra, uintptr_t sp)
{
	struct ring_event event = { .kind = GT_EXTRA,
				    .what = GT_EXTRA_LEFT_OUT };
	struct gl_ring *ring = thread->own;

	if ((kind != GT_FREE && kind != GT_REALLOC_BEGIN) || !ring_idle(ring))
		return;
	event.size = aside_passed(thread, block);
	if (!event.size)
		return;
	ring_enter(ring, sp, ra);
	ring_stamp(recorder, ring);
	event.stamp = ring->stamp;
	ring_push_extra(recorder, ring, &event);
	ring_leave(ring);
}

static BASE_SLOW void hooks_block_seldom(unsigned kind, uint64_t word1,
					 uint64_t size,
					 struct hooks_caller caller)
{
	struct thread *thread = hooks_thread(caller.sp);
	struct ring_event event = { .address = word1, .size = size };
	struct gl_ring *ring;
	uint32_t context;

	if (!thread)
		return;
	ring = thread->own;
	if (!ring_idle(ring) && hooks_reentered(thread, kind, caller.ra))
		return;
	if (thread->aside)
		kind = aside_block(thread, kind, word1, size);
	if (kind == GT_REALLOC_FREED)
		hooks_push_address(thread, kind, thread->moved, caller.ra,
				   caller.sp);
	if (kind == GT_REALLOC_FREED || kind == ASIDE_NOTHING)
		return;
	if (!ring_idle(ring)) {
		event.kind = kind;
		hooks_nested(thread, &event, caller);
		hooks_note(thread, word1, event.context);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	hooks_stamp(thread, ring);
	context = hooks_capture(thread, caller);
	hooks_note(thread, word1, context);
	ring_push_block(recorder, ring, kind, ring->stamp, word1, context,
			size);
	ring_leave(ring);
}

/* Of a program that is mostly left alone this is what it pays: no frame. */
__attribute__((noinline)) void hooks_block_slow(unsigned kind, uint64_t word1,
						uint64_t size,
						struct hooks_caller caller)
{
	if (unlikely(!aside_leaves_out_block(kind, size)))
		hooks_block_seldom(kind, word1, size, caller);
}

static BASE_SLOW void hooks_address_seldom(unsigned kind, uintptr_t block,
					   uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = hooks_thread(sp);

	if (!thread)
		return;
	if (!ring_idle(thread->own) && hooks_reentered(thread, kind, ra))
		return;
	if (thread->aside)
		kind = aside_address(thread, kind, block);
	if (kind == ASIDE_NOTHING)
		return;
	if (thread->aside)
		hooks_tell_passed(thread, kind, block, ra, sp);
	hooks_push_address(thread, kind, block, ra, sp);
}

/* A function that we have called has jumped on to this hook, as operator
 * delete of jemalloc does to free: the mark was set a moment ago, so it cannot
 * be stale, and that is not seldom. */
static bool hooks_jumped(unsigned kind, uintptr_t ra)
{
	const struct thread *thread = recorder_tls;

	return ra - real.own_start < real.own_size && thread &&
	       thread->own && hooks_reentered(thread, kind, ra);
}

__attribute__((noinline)) void hooks_address_slow(unsigned kind,
						  uintptr_t block,
						  uintptr_t ra, uintptr_t sp)
{
	if (unlikely(!aside_leaves_out_address(kind, block)) &&
	    !hooks_jumped(kind, ra))
		hooks_address_seldom(kind, block, ra, sp);
}

void hooks_end_stacked(unsigned kind, uintptr_t block, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp)
{
	const struct hooks_caller caller = { ra, sp, fp };
	struct ring_event event = { .kind = kind | GL_KIND_STACK,
				    .address = block };
	struct thread *thread = recorder_tls;
	struct gl_ring *ring;
	uint32_t context;

	if (unlikely(!thread) || unlikely(!(ring = thread->ring)) ||
	    unlikely(!ring_idle(ring))) {
		if (aside_leaves_out_address(kind, block) ||
		    hooks_jumped(kind, caller.ra) ||
		    !(thread = hooks_thread(caller.sp)))
			return;
		ring = thread->own;
	}
	if (unlikely(!ring_idle(ring)) &&
	    hooks_reentered(thread, kind, caller.ra))
		return;
	if (unlikely(thread->aside)) {
		if (aside_address(thread, kind, block) == ASIDE_NOTHING)
			return;
		hooks_tell_passed(thread, kind, block, ra, sp);
	}
	if (unlikely(!ring_idle(ring))) {
		hooks_nested(thread, &event, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	hooks_stamp(thread, ring);
	context = hooks_capture(thread, caller);
	if (likely(context))
		ring_push_stacked(recorder, ring, kind, ring->stamp, block,
				  context);
	else
		ring_push_address(recorder, ring, kind, ring->stamp, block);
	ring_leave(ring);
}

BASE_SLOW struct gl_ring *hooks_enter_real_slow(uintptr_t sp, uintptr_t ra)
{
	struct thread *thread = hooks_thread(sp);

	if (!thread || !ring_idle(thread->own))
		return NULL;
	ring_enter(thread->own, sp | RING_IN_REAL, ra);
	return thread->own;
}

BASE_SLOW void hooks_extra(enum gt_extra what, uintptr_t address,
			   uint64_t size, const uint64_t args[GT_EXTRA_ARGS],
			   struct hooks_caller caller)
{
	struct ring_event event = { .kind = GT_EXTRA, .what = what,
				    .address = address, .size = size };
	struct thread *thread;
	struct gl_ring *ring;
	unsigned i;

	if (!real.malloc && !real_resolve())
		return;
	thread = hooks_thread(caller.sp);
	if (!thread)
		return;
	for (i = 0; args && i < GT_EXTRA_ARGS; i++)
		event.args[i] = args[i];
	ring = thread->own;
	if (!ring_idle(ring)) {
		hooks_nested(thread, &event, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	hooks_stamp(thread, ring);
	event.stamp = ring->stamp;
	event.context = hooks_capture(thread, caller);
	ring_push_extra(recorder, ring, &event);
	ring_leave(ring);
}

/*
 * Each block that is met on trial is compared with what the allocator itself
 * says of it. One that differs, and headers are left alone: another version's,
 * or a checking mode (MALLOC_CHECK_).
 */
BASE_SLOW uint64_t hooks_word1_slow(void *block)
{
	static _Atomic uint32_t trials;
	uint32_t trial = REAL_HEADERS_TRIAL;
	uint64_t header = ((const uint64_t *)block)[-1];
	uint64_t usable = (header & ~UINT64_C(15)) - (header & 2 ? 16 : 8);

	if (header & GL_HEADER_KNOWN ||
	    usable != real.malloc_usable_size(block)) {
		real.headers = REAL_HEADERS_NONE;
		return (uintptr_t)block;
	}
	if (atomic_fetch_add_explicit(&trials, 1, memory_order_relaxed) >=
	    HOOKS_TRIALS)
		/* not if another thread has found one wrong */
		__atomic_compare_exchange_n(&real.headers, &trial,
					    REAL_HEADERS_TRUSTED, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return (uintptr_t)block |
	       (header | GL_HEADER_KNOWN) << GL_HEADER_SHIFT;
}
