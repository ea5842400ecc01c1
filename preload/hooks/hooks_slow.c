/*
 * hooks_slow.c: the slow half of the hooks. See hooks.h.
 *
 * I1: a hook that interrupted another one pushes into the thread's second ring,
 * unless the first one's busy mark is stale. A real function with a mark is not
 * a hook in this sense: its mark is removed while an event is pushed. I2: a
 * thread with an idle ring is in no real function, except one that it entered
 * before it had the ring (HOOKS_NO_RING). A mark stays if a handler on another
 * stack runs above it: the function will continue.
 */
#include <string.h>

#include "preload/hooks/guard_note.h"
#include "preload/hooks/hooks_wrap.h"
#include "preload/interpose/patched_code.h"
#include "preload/ring/fork_copy.h"
#include "preload/sample/skip.h"
#include "unwind/walk.h"

#define HOOKS_TRIALS 64	/* headers checked before all are trusted */
#define HOOKS_FLAGS (RING_IN_NEW | HOOKS_NO_RING)

__thread uintptr_t hooks_in_real __attribute__((tls_model("initial-exec")));

struct thread *hooks_thread(uintptr_t sp)
{
	struct thread *thread;
	struct gl_ring *own;

	if (unlikely(fork_copy_thread))
		fork_copy_scan(sp);
	thread = producer_thread();
	/* no ring of its own: a child (fork_copy.h) */
	if (!thread || !(own = thread->own))
		return NULL;
	if (!ring_idle(own) && ring_stale(thread, own, sp)) {
		/* a handler jumped out of a hook (longjmp): this thread's
		 * capture cache may be half written */
		if (thread->capture)
			capture_thread_drop(thread->capture);
		ring_abandon(producer, own);
		if (sp >= hooks_in_real)
			hooks_in_real = 0;
	}
	return thread;
}

/* Whether a signal handler runs between the mark and us: it belongs to the
 * program, whose image may be the allocator's. */
static bool hooks_interrupted(uintptr_t mark, uintptr_t sp)
{
	if (likely(mark - sp < ARCH_SIGFRAME_LEAST))
		return false;
	return unwind_may(UNWIND_NO_PROBE) && walk_meets_signal(mark);
}

bool hooks_reentered(unsigned kind, uintptr_t ra, uintptr_t sp)
{
	uintptr_t mark = hooks_in_real;

	if (!mark)
		return false;
	if (ra - real.own_start < real.own_size)
		return true;
	if (!patched_code_inside(ra) && (!wrap_allocators(ra) ||
				  (kind == GT_FREE && mark & RING_IN_NEW)))
		return false;
	return !hooks_interrupted(mark & ~HOOKS_FLAGS, sp);
}

/* I2 */
BASE_SLOW bool hooks_inside_slow(uintptr_t sp)
{
	const struct thread *thread = producer_tls;
	const struct gl_ring *own;

	if (thread && (own = thread->own) &&
	    !(hooks_in_real & HOOKS_NO_RING)) {
		if (!ring_idle(own))
			hooks_thread(sp);	/* drops stale marks */
		if (ring_idle(own))
			hooks_in_real = 0;
	}
	return sp < (hooks_in_real & ~HOOKS_FLAGS);
}

/* The mark of a real function, saved while another event is pushed. */
struct hooks_lent {
	uint64_t busy, owner;
};

/* ring_enter, unless another hook runs. */
static bool hooks_take(struct gl_ring *ring, struct hooks_lent *lent,
		       uintptr_t ra, uintptr_t sp)
{
	if (unlikely(!ring))
		return false;	/* a child (fork_copy.h) */
	lent->owner = ring->owner;
	lent->busy = atomic_load_explicit(&ring->busy, memory_order_relaxed);
	if (lent->busy != GL_IDLE && !(lent->busy & RING_IN_REAL))
		return false;
	ring_enter(ring, sp, ra);
	return true;
}

static void hooks_give_back(struct gl_ring *ring,
			    const struct hooks_lent *lent)
{
	ring->owner = lent->owner;
	atomic_signal_fence(memory_order_seq_cst);
	/* pairs with the acquire of drain_scan, as ring_leave's */
	atomic_store_explicit(&ring->busy, lent->busy, memory_order_release);
}

/* Records the event of a hook that interrupted a hook: walks without cache. */
static void hooks_nested(struct thread *thread, struct ring_event *event,
			 struct hooks_caller caller)
{
	event->stamp = ring_cycles();
	event->context = capture_stack_plain(thread->capture, caller.ra,
					     caller.sp, caller.fp);
	if (!event->context)
		event->kind &= ~GL_KIND_STACK;
	ring_nested_push(producer, thread, event);
}

/* Stores the allocation context in guarded blocks of the allocator (not of a
 * pool). */
static void hooks_note(const struct thread *thread, uint64_t word1,
		       uint32_t context)
{
	uint64_t block = gl_block(word1);

	if (thread->skip & THREAD_NOTES && block <= GL_ADDRESS_MASK)
		guard_note(block, context);
}

/* ring_stamp for a thread whose clock may have been set (gnomon_set_timestamp):
 * until that time all its events get that stamp. */
static void hooks_stamp(struct thread *thread, struct gl_ring *ring)
{
	struct gl_shared *shared = thread->shared;

	if (likely(shared))	/* else: a child (fork_copy.h) */
		ring_stamp(shared, ring);
	if (likely(!(thread->skip & THREAD_TIMED)))
		return;
	ring->stamp = ring_cycles();
	if (ring->stamp < thread->timed)
		ring->stamp = thread->timed;
	else
		producer_set_skip(thread, THREAD_TIMED, false);
}

static void hooks_push_address(struct thread *thread, unsigned kind,
			       uint64_t block, uintptr_t ra, uintptr_t sp)
{
	struct ring_event event = { .kind = kind, .address = block };
	struct gl_ring *ring = thread->own;
	struct hooks_lent lent;

	if (!hooks_take(ring, &lent, ra, sp)) {
		event.stamp = ring_cycles();
		ring_nested_push(producer, thread, &event);
		return;
	}
	hooks_stamp(thread, ring);
	ring_push_address(producer, ring, kind, ring->stamp, block);
	hooks_give_back(ring, &lent);
}

/* Before the free of a block: records how many blocks the thread has allocated
 * since (skip.c). */
static void hooks_report_passed(struct thread *thread, unsigned kind,
				uint64_t block, uintptr_t ra, uintptr_t sp)
{
	struct ring_event event = { .kind = GT_EXTRA,
				    .what = GT_EXTRA_LEFT_OUT };
	struct gl_ring *ring = thread->own;
	struct hooks_lent lent;

	if ((kind != GT_FREE && kind != GT_REALLOC_BEGIN) ||
	    !hooks_take(ring, &lent, ra, sp))
		return;
	event.size = skip_passed(thread, block);
	if (event.size) {
		hooks_stamp(thread, ring);
		event.stamp = ring->stamp;
		ring_push_extra(producer, ring, &event);
	}
	hooks_give_back(ring, &lent);
}

static BASE_SLOW void hooks_block_seldom(unsigned kind, uint64_t word1,
					 uint64_t size,
					 struct hooks_caller caller)
{
	struct thread *thread = hooks_thread(caller.sp);
	struct ring_event event = { .address = word1, .size = size };
	struct hooks_lent lent;
	struct gl_ring *ring;
	uint32_t context;

	if (!thread || !(ring = thread->own))
		return;
	if (!ring_idle(ring) &&
	    hooks_reentered(kind, caller.ra, caller.sp))
		return;
	if (thread->skip)
		kind = skip_block_kind(thread, kind, word1, size);
	if (kind == GT_REALLOC_FREED)
		hooks_push_address(thread, kind, thread->moved, caller.ra,
				   caller.sp);
	if (kind == GT_REALLOC_FREED || kind == SKIP_EVENT)
		return;
	if (!hooks_take(ring, &lent, caller.ra, caller.sp)) {
		event.kind = kind;
		hooks_nested(thread, &event, caller);
		hooks_note(thread, word1, event.context);
		return;
	}
	hooks_stamp(thread, ring);
	context = hooks_capture(thread, caller);
	hooks_note(thread, word1, context);
	ring_push_block(producer, ring, kind, word1, context, size);
	hooks_give_back(ring, &lent);
}

/* This is the cost for a program of which little is recorded: no frame. */
__attribute__((noinline)) void hooks_block_slow(unsigned kind, uint64_t word1,
						uint64_t size,
						struct hooks_caller caller)
{
	if (unlikely(!skip_block(kind, size)))
		hooks_block_seldom(kind, word1, size, caller);
}

static BASE_SLOW void hooks_address_seldom(unsigned kind, uint64_t block,
					   uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = hooks_thread(sp);
	const struct gl_ring *ring;

	if (!thread || !(ring = thread->own))
		return;
	if (!ring_idle(ring) && hooks_reentered(kind, ra, sp))
		return;
	if (thread->skip)
		kind = skip_address_kind(thread, kind, block);
	if (kind == SKIP_EVENT)
		return;
	if (thread->skip)
		hooks_report_passed(thread, kind, block, ra, sp);
	hooks_push_address(thread, kind, block, ra, sp);
}

/* Whether a function that we called has tail-called this hook, as jemalloc's
 * operator delete does with free. The mark was just set, so it cannot be stale;
 * and this case is common. */
static bool hooks_jumped(unsigned kind, uintptr_t ra, uintptr_t sp)
{
	return ra - real.own_start < real.own_size &&
	       hooks_reentered(kind, ra, sp);
}

__attribute__((noinline)) void hooks_address_slow(unsigned kind,
						  uint64_t block,
						  uintptr_t ra, uintptr_t sp)
{
	if (unlikely(!skip_address(kind, block)) &&
	    !hooks_jumped(kind, ra, sp))
		hooks_address_seldom(kind, block, ra, sp);
}

void hooks_end_stacked(unsigned kind, uint64_t block, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp)
{
	const struct hooks_caller caller = { ra, sp, fp };
	struct ring_event event = { .kind = kind | GL_KIND_STACK,
				    .address = block };
	struct thread *thread = producer_tls;
	struct hooks_lent lent;
	struct gl_ring *ring;
	uint32_t context;

	if (unlikely(!thread) || unlikely(!(ring = thread->ring)) ||
	    unlikely(!ring_idle(ring))) {
		if (skip_address(kind, block) ||
		    hooks_jumped(kind, ra, sp) ||
		    !(thread = hooks_thread(caller.sp)) ||
		    !(ring = thread->own))
			return;
	}
	if (unlikely(!ring_idle(ring)) &&
	    hooks_reentered(kind, ra, sp))
		return;
	if (unlikely(thread->skip)) {
		if (skip_address_kind(thread, kind, block) == SKIP_EVENT)
			return;
		hooks_report_passed(thread, kind, block, ra, sp);
	}
	if (unlikely(!hooks_take(ring, &lent, ra, sp))) {
		hooks_nested(thread, &event, caller);
		return;
	}
	hooks_stamp(thread, ring);
	context = hooks_capture(thread, caller);
	ring_push_stacked(producer, ring, kind, ring->stamp, block, context);
	hooks_give_back(ring, &lent);
}

/* A function that an exception may leave gets a mark only if that is the
 * outermost: an inner one could not be removed (hooks_wrap.c). */
BASE_SLOW struct hooks_mark hooks_enter_real_slow(uintptr_t sp, uintptr_t ra,
						  uint64_t more)
{
	struct hooks_mark mark = { .set = false };
	struct thread *thread = hooks_thread(sp);
	struct gl_ring *own = thread ? thread->own : NULL;

	hooks_inside(sp);	/* drops stale marks */
	mark.outer = hooks_in_real;
	if (own && ring_idle(own)) {
		mark.ring = own;
		ring_enter(mark.ring, sp | RING_IN_REAL, ra);
	} else if (more) {
		return mark;
	}
	hooks_in_real = sp | more | (thread ? 0 : HOOKS_NO_RING);
	mark.set = true;
	return mark;
}

static BASE_SLOW void hooks_extra_seldom(struct ring_event *event,
					 struct hooks_caller caller)
{
	struct hooks_lent lent;
	struct thread *thread;
	struct gl_ring *ring;

	if (!real.malloc && !real_resolve())
		return;
	thread = hooks_thread(caller.sp);
	if (!thread)
		return;
	ring = thread->own;
	if (thread->skip && ring_idle(ring))
		skip_extra(thread);
	if (!hooks_take(ring, &lent, caller.ra, caller.sp)) {
		hooks_nested(thread, event, caller);
		return;
	}
	hooks_stamp(thread, ring);
	event->stamp = ring->stamp;
	event->context = hooks_capture(thread, caller);
	ring_push_extra(producer, ring, event);
	hooks_give_back(ring, &lent);
}

__attribute__((noinline)) void hooks_extra(enum gt_extra what,
					   uintptr_t address, uint64_t size,
					   const uint64_t args[GT_EXTRA_ARGS],
					   struct hooks_caller caller)
{
	struct ring_event event = { .kind = GT_EXTRA, .what = what,
				    .address = address, .size = size };
	struct thread *thread = producer_tls;
	struct gl_shared *shared;
	struct gl_ring *ring;
	unsigned i;

	for (i = 0; args && i < GT_EXTRA_ARGS; i++)
		event.args[i] = args[i];
	if (unlikely(!thread) ||
	    unlikely(!(ring = hooks_ring(thread, &shared))) ||
	    unlikely(!ring_idle(ring))) {
		hooks_extra_seldom(&event, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	ring_stamp(shared, ring);
	event.stamp = ring->stamp;
	event.context = hooks_capture(thread, caller);
	ring_push_extra(producer, ring, &event);
	ring_leave(ring);
}

BASE_SLOW void hooks_extra_at_end(enum gt_extra what, uintptr_t address,
				  uint64_t size,
				  const uint64_t args[GT_EXTRA_ARGS])
{
	uintptr_t ra = (uintptr_t)__builtin_return_address(0);
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa();
	struct ring_event event = { .kind = GT_EXTRA, .what = what,
				    .address = address, .size = size };
	struct thread *thread = producer_join();
	struct hooks_lent lent;
	struct gl_ring *ring;

	hooks_thread(sp);	/* drops stale marks */
	if (!thread || !(ring = thread->own))
		return;
	memcpy(event.args, args, sizeof(event.args));
	if (!hooks_take(ring, &lent, ra, sp)) {
		event.stamp = ring_cycles();
		ring_nested_push(producer, thread, &event);
		return;
	}
	hooks_stamp(thread, ring);
	event.stamp = ring->stamp;
	ring_push_extra_dormant(producer, ring, &event);
	hooks_give_back(ring, &lent);
}

/*
 * Compares the header of each block with what the allocator says of the block.
 * After one mismatch headers are no longer used: another version, or a checking
 * mode (MALLOC_CHECK_).
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
		/* not if another thread has found a mismatch */
		__atomic_compare_exchange_n(&real.headers, &trial,
					    REAL_HEADERS_TRUSTED, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return (uintptr_t)block |
	       (header | GL_HEADER_KNOWN) << GL_HEADER_SHIFT;
}
