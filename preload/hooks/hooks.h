/*
 * hooks.h: building blocks of hooks. A hook calls the real function with its
 * own arguments, and records the event with functions of this file: inline on
 * the fast path of malloc and free, else in hooks_slow.c.
 *
 * All of it: any thread of the target at any time, also signal handlers; errno
 * is kept. Needs real.malloc to be set (real.h), except hooks_extra.
 */
#ifndef GNOMON_HOOKS_H
#define GNOMON_HOOKS_H

#include "entry.h"
#include "preload/interpose/real.h"
#include "preload/ring/ring.h"
#include "preload/sample/skip.h"
#include "unwind/capture_fast.h"

#define HOOK __attribute__((visibility("default")))

/* The registers of a hook's caller, from which a walk starts. */
struct hooks_caller {
	uintptr_t ra, sp, fp;
};

/* For use in a hook itself, not in a function it calls: reads the hook's own
 * frame. */
#define HOOKS_CALLER                                                \
	((struct hooks_caller){                                     \
		ARCH_CALLER_RA, ARCH_CALLER_SP, ARCH_CALLER_FP })

/* Put it before the definition of a hook that uses HOOKS_CALLER, unless a table
 * declares the hook (CAPTURED in hooked.def). */
#define HOOKS_ENTERED(name) extern __typeof__(name) name ARCH_ENTRY(name)

static inline __attribute__((always_inline)) uint32_t
hooks_capture(struct thread *thread, struct hooks_caller caller)
{
	if (likely(thread->capture))
		return capture_stack_fast(thread->capture, caller.ra,
					  caller.sp, caller.fp);
	return capture_stack_plain(NULL, caller.ra, caller.sp, caller.fp);
}

/*
 * While a real function runs that may call our hooks, its calls are part of it:
 * one call of the program is one event. The thread is marked with the stack
 * pointer of the caller (hooks_in_real), and its ring is busy, so that hooks
 * take their slow branch and check the mark. Marks nest: a signal handler may
 * interrupt a real function, and a real function may call back functions of the
 * program.
 *
 * A thread without a ring is marked, too: it records no event, but its blocks
 * are guarded (hooks_guard.c).
 */
struct hooks_mark {
	bool set;		/* false: no mark was set */
	struct gl_ring *ring;	/* NULL: busy before, or no ring */
	uintptr_t outer;	/* the mark before this one */
};

/* The mark: a stack pointer, RING_IN_NEW, HOOKS_NO_RING; 0: none. After a
 * longjmp out of a real function a mark may stay for a while (hooks_inside). */
extern BASE_HIDDEN __thread uintptr_t hooks_in_real
	__attribute__((tls_model("initial-exec")));

#define HOOKS_NO_RING UINT64_C(1)	/* the thread had no ring then */

/*
 * The calling thread for the slow branch: with a ring whose `busy` is not left
 * over from a hook that was unwound. NULL: not recorded.
 */
struct thread *hooks_thread(uintptr_t sp);

/* Puts our malloc functions before those of another library in symbol lookup.
 * For the constructor. */
void hooks_in_front(void);

/* Redirects symbol lookups in the image that provides malloc to our hooks: for
 * all functions or none, and only if all functions that the hooks call are in
 * that image. So no library lies between our hooks and that image that could
 * look up the next malloc there, and get ours again. */
void hooks_in_provider(void);

/* Marks the real functions while they run, if they may call our hooks
 * (hooks_reentry.c). For the constructor, before hooks_guard. */
void hooks_reentry(void);

/* From now on the code ranges of allocators are known. For the constructor,
 * after the attempt to start the recorder. */
void hooks_map_start(void);

/* The slow halves of hooks_block_of and hooks_address: a thread's first event,
 * hooks in signal handlers, hooks that a handler unwound by a longjmp. */
void hooks_block_slow(unsigned kind, uint64_t word1, uint64_t size,
		      struct hooks_caller caller);
void hooks_address_slow(unsigned kind, uint64_t block, uintptr_t ra,
			uintptr_t sp);
struct hooks_mark hooks_enter_real_slow(uintptr_t sp, uintptr_t ra,
				       uint64_t more);

/* GT_FREE or GT_REALLOC_BEGIN with its stack, if stacks of frees are
 * recorded. */
void hooks_end_stacked(unsigned kind, uint64_t block, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp);

/* hooks_word1 while real.headers is REAL_HEADERS_TRIAL. */
uint64_t hooks_word1_slow(void *block);

/*
 * Records a rare event that is not about a block, with its stack. Records
 * nothing while the recorder cannot run (yet).
 */
void hooks_extra(enum gt_extra what, uintptr_t address, uint64_t size,
		 const uint64_t args[GT_EXTRA_ARGS],
		 struct hooks_caller caller);

/* The same at the end of the process, without a stack, and also while recording
 * is off. */
void hooks_extra_at_end(enum gt_extra what, uintptr_t address, uint64_t size,
			const uint64_t args[GT_EXTRA_ARGS]);

/* Word 1 of a block's record: its address, and its header if that is known. */
static inline bool hooks_word1_fast(void *block, uint64_t *word1)
{
	*word1 = (uintptr_t)block;
	if (unlikely(real.headers != REAL_HEADERS_TRUSTED))
		return __atomic_load_n(&real.headers, __ATOMIC_RELAXED) !=
		       REAL_HEADERS_TRIAL;	/* else not yet known */
	*word1 |= (uint64_t)(((const uintptr_t *)block)[-1] | GL_HEADER_KNOWN)
		  << GL_HEADER_SHIFT;
	return true;
}

static inline uint64_t hooks_word1(void *block)
{
	uint64_t word1;

	return likely(hooks_word1_fast(block, &word1)) ?
		       word1 : hooks_word1_slow(block);
}

/* The thread's ring, and the memory shared with the recorder. A thread of a
 * forked child that was interrupted between the two reads has no ring
 * (fork_copy.h). */
static inline __attribute__((always_inline)) struct gl_ring *
hooks_ring(const struct thread *thread, struct gl_shared **shared)
{
	*shared = thread->shared;
	atomic_signal_fence(memory_order_seq_cst);
	return thread->ring;
}

/* Records a new block: GT_ALLOC or GT_REALLOC_DONE. `known`: it was returned by
 * real.malloc or a related function; else `block` is word 1 of its record. */
static inline __attribute__((always_inline)) void
hooks_block_at(bool known, unsigned kind, uint64_t block, uint64_t size,
	       struct hooks_caller caller)
{
	void *own = (void *)(uintptr_t)block;
	struct thread *thread = producer_tls;
	struct gl_shared *shared;
	struct gl_ring *ring;
	uint32_t context;

	if (unlikely(!thread) ||
	    unlikely(!(ring = hooks_ring(thread, &shared))) ||
	    unlikely(!ring_idle(ring))) {
		if ((likely(thread) &&
		     skip_unsampled_block(thread, kind, size)) ||
		    skip_all(thread))
			return;
		hooks_block_slow(kind,
				 known ? hooks_word1(own) : block,
				 size, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	ring_stamp(shared, ring);
	context = hooks_capture(thread, caller);
	ring_push_block(producer, ring, kind,
			known ? hooks_word1(own) : block,
			context, size);
	ring_leave(ring);
}

static inline __attribute__((always_inline)) void
hooks_block_of(bool known, unsigned kind, void *block, uint64_t size,
	       struct hooks_caller caller)
{
	hooks_block_at(known, kind, (uintptr_t)block, size, caller);
}

/*
 * Records the other kinds. False: nothing is recorded yet, the slow function
 * must do it. So the fast path has no call, and saves hardly any register.
 */
static inline __attribute__((always_inline)) bool
hooks_address_fast(unsigned kind, uint64_t block, uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = producer_tls;
	struct gl_shared *shared;
	struct gl_ring *ring;
	bool done;

	if (unlikely(!thread) ||
	    unlikely(!(ring = hooks_ring(thread, &shared))) ||
	    unlikely(!ring_idle(ring)))
		return false;
	ring_enter(ring, sp, ra);
	done = ring_push_address_fast(shared, ring, kind, block);
	ring_leave(ring);
	return done;
}

static inline __attribute__((always_inline)) void
hooks_address_of(unsigned kind, uint64_t block, uintptr_t ra, uintptr_t sp)
{
	if (unlikely(!hooks_address_fast(kind, block, ra, sp)))
		hooks_address_slow(kind, block, ra, sp);
}

static inline __attribute__((always_inline)) void
hooks_address(unsigned kind, void *block, uintptr_t ra, uintptr_t sp)
{
	hooks_address_of(kind, (uintptr_t)block, ra, sp);
}

/* Whether stacks of frees are recorded; real_only is false then. */
static inline bool hooks_stacks_wanted(void)
{
	return unlikely(producer_options.number[OPTION_FREE_STACKS]);
}

/* Records that a block, given as word 1 of its record, is about to end:
 * GT_FREE, GT_REALLOC_BEGIN. Not to be the hook's last call: the hook's own
 * frame must still exist. */
static inline __attribute__((always_inline)) void
hooks_end_of(unsigned kind, uint64_t block, struct hooks_caller caller)
{
	if (hooks_stacks_wanted())
		hooks_end_stacked(kind, block, caller.ra, caller.sp,
				  caller.fp);
	else
		hooks_address_of(kind, block, caller.ra, caller.sp);
}

static inline __attribute__((always_inline)) void
hooks_end(unsigned kind, void *block, struct hooks_caller caller)
{
	hooks_end_of(kind, (uintptr_t)block, caller);
}

/*
 * Around a real function that may call our hooks; sp and ra as in ring_enter.
 * more: RING_IN_NEW, or 0.
 */
static inline struct hooks_mark hooks_enter_real(uintptr_t sp, uintptr_t ra,
						 uint64_t more)
{
	struct thread *thread = producer_tls;
	struct gl_ring *ring;

	if (unlikely(!thread) || unlikely(!(ring = thread->own)) ||
	    unlikely(!ring_idle(ring)) || unlikely(hooks_in_real))
		return hooks_enter_real_slow(sp, ra, more);
	ring_enter(ring, sp | RING_IN_REAL, ra);
	hooks_in_real = sp | more;
	return (struct hooks_mark){ true, ring, 0 };
}

/* A handler may have forked meanwhile: in the child the thread has no ring or
 * another one, and the old ring is not mapped. */
static inline void hooks_leave_real(const struct hooks_mark *mark)
{
	const struct thread *thread = producer_tls;

	if (unlikely(!mark->set))
		return;
	hooks_in_real = mark->outer;
	if (likely(mark->ring) && likely(thread) &&
	    likely(mark->ring == thread->own))
		ring_leave(mark->ring);
}

/* Whether a hook was called by the real function that its thread runs. */
bool hooks_reentered(unsigned kind, uintptr_t ra, uintptr_t sp);

/* Whether the calling thread runs a real function, no matter who calls in the
 * middle of it; false on a signal handler's stack above it. sp: the caller's,
 * or below. Drops a mark that was left by a longjmp. */
bool hooks_inside_slow(uintptr_t sp);

static inline bool hooks_inside(uintptr_t sp)
{
	return unlikely(hooks_in_real) && hooks_inside_slow(sp);
}

#endif
