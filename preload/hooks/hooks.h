/*
 * hooks.h: what hooks are made of. A hook calls the real function as it was
 * called itself, and tells of it here: inline where that is on the fast path
 * of malloc and free, else in hooks_slow.c.
 *
 * All of it: any thread of the target at any time, also signal handlers;
 * errno is kept. Needs real.malloc to be set (real.h), but for hooks_extra.
 */
#ifndef GNOMON_HOOKS_H
#define GNOMON_HOOKS_H

#include "entry.h"
#include "preload/interpose/real.h"
#include "preload/ring/ring.h"
#include "preload/sample/aside.h"
#include "unwind/capture_fast.h"

#define HOOK __attribute__((visibility("default")))

/* The caller of a hook as a walk begins with it. */
struct hooks_caller {
	uintptr_t ra, sp, fp;
};

/* In a hook itself, not in a function it calls: its own frame is asked. */
#define HOOKS_CALLER                                                \
	((struct hooks_caller){                                     \
		ARCH_CALLER_RA, ARCH_CALLER_SP, ARCH_CALLER_FP })

/* Before the definition of a hook that uses it, where no table declares that
 * (CAPTURED in hooked.def). */
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
 * While a real function runs that may come back to our hooks, what it calls
 * is part of it: one call of the program is one event. Its thread is marked by
 * the stack pointer of who called it (hooks_in_real), and its ring is busy,
 * so that hooks take their slow branch and look. Marks are nested by signal
 * handlers, and by real functions that call back what they were not asked to.
 *
 * A thread without a ring is marked, too: nothing of it is recorded, but its
 * blocks are guarded (hooks_guard.c).
 */
struct hooks_mark {
	bool set;		/* false: there is none */
	struct gl_ring *ring;	/* NULL: it was busy before, or there is none */
	uintptr_t outer;	/* the mark before this one */
};

/* The mark: a stack pointer, RING_IN_NEW, HOOKS_NO_RING; 0: none. One that was
 * left by a jump may stand for a while (hooks_inside). */
extern BASE_HIDDEN __thread uintptr_t hooks_in_real
	__attribute__((tls_model("initial-exec")));

#define HOOKS_NO_RING UINT64_C(1)	/* the thread had none then */

/*
 * The slow branch's thread: with a ring, and `busy` belonging to nobody who
 * is gone. NULL: not recorded.
 */
struct thread *hooks_thread(uintptr_t sp);

/* Has malloc and its kin found before another library's of these names. For
 * the constructor. */
void hooks_in_front(void);

/* Has who looks in the image that provides malloc find ours: all of them or none,
 * and only where all that the hooks call are that image's. So behind our hooks
 * there is nobody between us and that who could ask for the next malloc, and get
 * ours again. */
void hooks_in_provider(void);

/* Has the real functions marked while they run, if they may come back to our
 * hooks (hooks_within.c). For the constructor, before hooks_guard. */
void hooks_within(void);

/* From now on the code of allocators is known. For the constructor, once the
 * recorder was to start. */
void hooks_map_start(void);

/* The halves of hooks_block_of and hooks_address that take time: a thread's first
 * event, hooks in signal handlers, hooks that a handler jumped out of. */
void hooks_block_slow(unsigned kind, uint64_t word1, uint64_t size,
		      struct hooks_caller caller);
void hooks_address_slow(unsigned kind, uint64_t block, uintptr_t ra,
			uintptr_t sp);
struct hooks_mark hooks_enter_real_slow(uintptr_t sp, uintptr_t ra,
				       uint64_t more);

/* GT_FREE or GT_REALLOC_BEGIN with its stack: where that is wanted. */
void hooks_end_stacked(unsigned kind, uint64_t block, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp);

/* While real.headers is on trial. */
uint64_t hooks_word1_slow(void *block);

/*
 * Something rare that is not about a block, with its stack. Nothing is
 * recorded where the recorder cannot run (yet).
 */
void hooks_extra(enum gt_extra what, uintptr_t address, uint64_t size,
		 const uint64_t args[GT_EXTRA_ARGS],
		 struct hooks_caller caller);

/* The same at the end of the process, without a stack, and also if nothing is
 * recorded at the time. */
void hooks_extra_at_end(enum gt_extra what, uintptr_t address, uint64_t size,
			const uint64_t args[GT_EXTRA_ARGS]);

/* Word 1 of a block's record: where it is, and its header if that is known. */
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

/* The thread's ring, and what it shares with the writer. A forked child that is
 * between the two has no ring (fork_copy.h). */
static inline __attribute__((always_inline)) struct gl_ring *
hooks_ring(const struct thread *thread, struct gl_shared **shared)
{
	*shared = thread->shared;
	atomic_signal_fence(memory_order_seq_cst);
	return thread->ring;
}

/* A block came into being: GT_ALLOC or GT_REALLOC_DONE. `known`: it is
 * real.malloc's, or one of its kin; else `block` is word 1 of its record. */
static inline __attribute__((always_inline)) void
hooks_block_at(bool known, unsigned kind, uint64_t block, uint64_t size,
	       struct hooks_caller caller)
{
	void *own = (void *)(uintptr_t)block;
	struct thread *thread = recorder_tls;
	struct gl_shared *shared;
	struct gl_ring *ring;
	uint32_t context;

	if (unlikely(!thread) ||
	    unlikely(!(ring = hooks_ring(thread, &shared))) ||
	    unlikely(!ring_idle(ring))) {
		if ((likely(thread) &&
		     aside_skips_block(thread, kind, size)) ||
		    aside_sleeps(thread))
			return;
		hooks_block_slow(kind,
				 known ? hooks_word1(own) : block,
				 size, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	ring_stamp(shared, ring);
	context = hooks_capture(thread, caller);
	ring_push_block(recorder, ring, kind,
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
 * Everything else. False: nothing is done yet, the slow function has to do it.
 * So there is no call on the fast path, and hardly a register to be saved.
 */
static inline __attribute__((always_inline)) bool
hooks_address_fast(unsigned kind, uint64_t block, uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = recorder_tls;
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

/* Whether frees have their stacks; real_only is false then. */
static inline bool hooks_stacks_wanted(void)
{
	return unlikely(recorder_options.number[OPTION_FREE_STACKS]);
}

/* A block, by word 1 of its record, is about to end: GT_FREE, GT_REALLOC_BEGIN.
 * The hook's own frame has to be there still: not its last call. */
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
 * Around a real function that may come back; sp and ra as ring_enter takes
 * them. more: RING_IN_NEW, or 0.
 */
static inline struct hooks_mark hooks_enter_real(uintptr_t sp, uintptr_t ra,
						 uint64_t more)
{
	struct thread *thread = recorder_tls;
	struct gl_ring *ring;

	if (unlikely(!thread) || unlikely(!(ring = thread->own)) ||
	    unlikely(!ring_idle(ring)) || unlikely(hooks_in_real))
		return hooks_enter_real_slow(sp, ra, more);
	ring_enter(ring, sp | RING_IN_REAL, ra);
	hooks_in_real = sp | more;
	return (struct hooks_mark){ true, ring, 0 };
}

/* A handler may have forked meanwhile: in the child the thread has no ring, or
 * another one, and the old one is not mapped. */
static inline void hooks_leave_real(const struct hooks_mark *mark)
{
	const struct thread *thread = recorder_tls;

	if (unlikely(!mark->set))
		return;
	hooks_in_real = mark->outer;
	if (likely(mark->ring) && likely(thread) &&
	    likely(mark->ring == thread->own))
		ring_leave(mark->ring);
}

/* Whether a hook is part of the real function that its thread is in. */
bool hooks_reentered(unsigned kind, uintptr_t ra, uintptr_t sp);

/* Whether a real function is under way in the calling thread, whoever calls in
 * the middle of it; on a signal handler's stack above it the answer is no. sp:
 * the caller's, or below. Drops a mark that was left by a jump. */
bool hooks_inside_slow(uintptr_t sp);

static inline bool hooks_inside(uintptr_t sp)
{
	return unlikely(hooks_in_real) && hooks_inside_slow(sp);
}

#endif
