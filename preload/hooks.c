/*
 * hooks.c: the functions that take the place of the C library's.
 *
 * Each calls the real function exactly as it was called, so results,
 * alignment and errno are the real allocator's, and records what happened:
 * a new block after the real call, a freed one before it (else another thread
 * could get the address, and be stamped, first). realloc records both halves.
 *
 *	malloc ─▶ real.malloc ─▶ busy ─▶ stamp ─▶ capture_stack ─▶ ring ─▶ idle
 *
 * Called by the program from everywhere: before the C library is set up, from
 * resolvers of indirect functions, constructors, the loader, signal handlers,
 * TLS destructors, after main. Budget of the fast path, capture left out:
 * 12 ns for a pair (make bench).
 *
 * I1: errno and the arguments of the real call are never touched.
 * I2: blocks of the bump arena never reach a real function, and nothing is
 *     recorded of them.
 * I3: before real.malloc is set, nothing is used that needs relocation.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "arch.h"
#include "preload/bump.h"
#include "preload/real.h"
#include "preload/ring.h"
#include "preload/sys.h"
#include "unwind/capture_fast.h"

#define HOOK __attribute__((visibility("default")))

/* With all of the fast path in it, but for the slow functions. */
#define HOOKS_WHOLE __attribute__((flatten))

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);
void free(void *block);
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);
size_t malloc_usable_size(void *block);

/* The caller of a hook as a walk begins with it. */
struct hooks_caller {
	uintptr_t ra, sp, fp;
};

/* In a hook itself, not in a function it calls: its own frame is asked. */
#define HOOKS_CALLER                                                \
	((struct hooks_caller){                                     \
		(uintptr_t)__builtin_return_address(0),             \
		(uintptr_t)__builtin_dwarf_cfa(),                   \
		*(const uintptr_t *)__builtin_frame_address(0) })

static inline __attribute__((always_inline)) uint32_t
hooks_capture(struct thread *thread, struct hooks_caller caller)
{
	if (likely(thread->capture))
		return capture_stack_fast(thread->capture, caller.ra,
					  caller.sp, caller.fp);
	return capture_stack_plain(caller.ra, caller.sp, caller.fp);
}

/*
 * The slow branch's thread: with a ring, and `busy` belonging to nobody who
 * is gone. NULL: not recorded.
 */
static struct thread *hooks_thread(uintptr_t sp)
{
	struct thread *thread = recorder_thread();

	if (!thread)
		return NULL;
	if (!ring_idle(thread->ring) && ring_stale(thread, thread->ring, sp)) {
		/* a handler jumped out of a hook: what capture remembers of
		 * this thread may be half written */
		if (thread->capture)
			capture_thread_drop(thread->capture);
		/* it may have got the turn, and no stamp yet (I4 of ring.h) */
		thread->ring->stamp = ring_cycles();
		ring_leave(thread->ring);
	}
	return thread;
}

/* The real function that this thread is in has called another hook. */
static bool hooks_reentered(const struct thread *thread, uintptr_t ra)
{
	uint64_t busy = atomic_load_explicit(&thread->ring->busy,
					     memory_order_relaxed);

	return busy & RING_IN_REAL &&
	       ra - real.reenter_start < real.reenter_size;
}

static BASE_SLOW void hooks_block_slow(unsigned kind, uintptr_t block,
				       uint64_t size,
				       struct hooks_caller caller)
{
	struct thread *thread = hooks_thread(caller.sp);
	struct gl_ring *ring;
	uint32_t context;
	uint64_t stamp;

	if (!thread)
		return;
	ring = thread->ring;
	if (!ring_idle(ring)) {
		if (hooks_reentered(thread, caller.ra))
			return;
		stamp = ring_cycles();
		ring_nested_push(recorder, thread, kind, stamp, block,
				 capture_stack_plain(caller.ra, caller.sp,
						     caller.fp), size);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	ring_stamp(recorder, ring);
	context = hooks_capture(thread, caller);
	ring_push_block(recorder, ring, kind, ring->stamp, block, context,
			size);
	ring_leave(ring);
}

static BASE_SLOW void hooks_address_slow(unsigned kind, uintptr_t block,
					 uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = hooks_thread(sp);
	struct gl_ring *ring;
	uint64_t stamp;

	if (!thread)
		return;
	ring = thread->ring;
	if (!ring_idle(ring)) {
		if (hooks_reentered(thread, ra))
			return;
		stamp = ring_cycles();
		ring_nested_push(recorder, thread, kind, stamp, block, 0, 0);
		return;
	}
	ring_enter(ring, sp, ra);
	ring_stamp(recorder, ring);
	ring_push_address(recorder, ring, kind, ring->stamp, block);
	ring_leave(ring);
}

/* A block came into being: GT_ALLOC or GT_REALLOC_DONE. */
static inline __attribute__((always_inline)) void
hooks_block(unsigned kind, void *block, uint64_t size,
	    struct hooks_caller caller)
{
	struct thread *thread = recorder_tls;
	struct gl_ring *ring;
	uint32_t context;

	if (unlikely(!thread) || unlikely(!(ring = thread->ring)) ||
	    unlikely(!ring_idle(ring))) {
		hooks_block_slow(kind, (uintptr_t)block, size, caller);
		return;
	}
	ring_enter(ring, caller.sp, caller.ra);
	ring_stamp(recorder, ring);
	context = hooks_capture(thread, caller);
	ring_push_block(recorder, ring, kind, ring->stamp, (uintptr_t)block,
			context, size);
	ring_leave(ring);
}

/*
 * Everything else. False: nothing is done yet, the slow function has to do it.
 * So there is no call on the fast path, and hardly a register to be saved.
 */
static inline __attribute__((always_inline)) bool
hooks_address_fast(unsigned kind, void *block, uintptr_t ra, uintptr_t sp)
{
	struct thread *thread = recorder_tls;
	struct gl_ring *ring;
	bool done;

	if (unlikely(!thread) || unlikely(!(ring = thread->ring)) ||
	    unlikely(!ring_idle(ring)))
		return false;
	ring_enter(ring, sp, ra);
	done = ring_push_address_fast(recorder, ring, kind, (uintptr_t)block);
	ring_leave(ring);
	return done;
}

static inline __attribute__((always_inline)) void
hooks_address(unsigned kind, void *block, uintptr_t ra, uintptr_t sp)
{
	if (unlikely(!hooks_address_fast(kind, block, ra, sp)))
		hooks_address_slow(kind, (uintptr_t)block, ra, sp);
}

/*
 * Around real functions that call each other through the loader: while one
 * runs, what it calls back is part of it. NULL where that does not happen.
 */
static BASE_SLOW struct gl_ring *hooks_enter_real_slow(uintptr_t sp,
							uintptr_t ra)
{
	struct thread *thread = hooks_thread(sp);

	if (!thread || !ring_idle(thread->ring))
		return NULL;
	ring_enter(thread->ring, sp | RING_IN_REAL, ra);
	return thread->ring;
}

static inline struct gl_ring *hooks_enter_real(uintptr_t sp, uintptr_t ra)
{
	return unlikely(real.reenter_size) ? hooks_enter_real_slow(sp, ra) :
					     NULL;
}

static inline void hooks_leave_real(struct gl_ring *ring)
{
	if (unlikely(ring))
		ring_leave(ring);
}

HOOK HOOKS_WHOLE void *malloc(size_t size)
{
	void *block;

	if (unlikely(!real.malloc) && !real_resolve())
		return bump_alloc(size, 0);
	block = real.malloc(size);
	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

static BASE_SLOW void hooks_free_slow(void *block, uintptr_t ra, uintptr_t sp)
{
	if (bump_owns(block))
		return;
	if (!real.malloc && !real_resolve())
		return;
	if (block)
		hooks_address_slow(GT_FREE, (uintptr_t)block, ra, sp);
	real.free(block);
}

static inline __attribute__((always_inline)) void
hooks_free(void *block, uintptr_t ra, uintptr_t sp)
{
	if (likely(real_only) && likely(block) &&
	    likely(hooks_address_fast(GT_FREE, block, ra, sp)))
		real.free(block);
	else
		hooks_free_slow(block, ra, sp);
}

HOOK void free(void *block)
{
	hooks_free(block, (uintptr_t)__builtin_return_address(0),
		   (uintptr_t)__builtin_dwarf_cfa());
}

/* The product is only recorded after the real function has accepted it. */
HOOK HOOKS_WHOLE void *calloc(size_t count, size_t size)
{
	struct gl_ring *ring;
	void *block;

	if (unlikely(!real.malloc) && !real_resolve()) {
		size_t all;

		if (__builtin_mul_overflow(count, size, &all))
			return NULL;
		return bump_alloc(all, 0);
	}
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	block = real.calloc(count, size);
	hooks_leave_real(ring);
	if (likely(block))
		hooks_block(GT_ALLOC, block, count * size, HOOKS_CALLER);
	return block;
}

/* A block of the arena moves out of it; without an arena yet to leave, it
 * moves within. */
static BASE_SLOW void *hooks_realloc_early(void *block, size_t size,
					   struct hooks_caller caller)
{
	void *to;

	if (!real.malloc && !real_resolve()) {
		to = bump_alloc(size, 0);
	} else {
		to = real.malloc(size);
		if (to)
			hooks_block(GT_ALLOC, to, size, caller);
	}
	if (to && block)
		memcpy(to, block, base_min(size, bump_size(block)));
	return to;
}

static inline __attribute__((always_inline)) void *
hooks_realloc(void *block, size_t size, struct hooks_caller caller)
{
	struct gl_ring *ring;
	void *to;

	if (unlikely(!real.malloc) && !real_resolve())
		return hooks_realloc_early(block, size, caller);
	if (unlikely(bump_owns(block)))
		return hooks_realloc_early(block, size, caller);
	if (block)
		hooks_address(GT_REALLOC_BEGIN, block, caller.ra, caller.sp);
	ring = hooks_enter_real(caller.sp, caller.ra);
	to = real.realloc(block, size);
	hooks_leave_real(ring);
	if (likely(to))
		hooks_block(block ? GT_REALLOC_DONE : GT_ALLOC, to, size,
			    caller);
	else if (block)
		hooks_address(size ? GT_REALLOC_FAILED : GT_REALLOC_FREED,
			      block, caller.ra, caller.sp);
	return to;
}

HOOK HOOKS_WHOLE void *realloc(void *block, size_t size)
{
	return hooks_realloc(block, size, HOOKS_CALLER);
}

/* C libraries' own reallocarray comes back to realloc, so it is made of ours;
 * a request that nobody can serve lets the real one set errno. */
HOOK void *reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	if (unlikely(__builtin_mul_overflow(count, size, &all)))
		all = SIZE_MAX;
	return hooks_realloc(block, all, HOOKS_CALLER);
}

HOOK void cfree(void *block)
{
	hooks_free(block, (uintptr_t)__builtin_return_address(0),
		   (uintptr_t)__builtin_dwarf_cfa());
}

/* C23: the same as free, with a size that the caller promises. */
HOOK void free_sized(void *block, size_t size)
{
	(void)size;
	hooks_free(block, (uintptr_t)__builtin_return_address(0),
		   (uintptr_t)__builtin_dwarf_cfa());
}

HOOK void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	hooks_free(block, (uintptr_t)__builtin_return_address(0),
		   (uintptr_t)__builtin_dwarf_cfa());
}

HOOK int posix_memalign(void **block, size_t alignment, size_t size)
{
	struct gl_ring *ring;
	int err;

	if (unlikely(!real.malloc) && !real_resolve()) {
		void *early;

		if (alignment < sizeof(void *) || alignment & (alignment - 1))
			return EINVAL;
		early = bump_alloc(size, alignment);
		if (!early)
			return ENOMEM;
		*block = early;
		return 0;
	}
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	err = real.posix_memalign(block, alignment, size);
	hooks_leave_real(ring);
	/* size 0 may give NULL */
	if (likely(!err) && likely(*block))
		hooks_block(GT_ALLOC, *block, size, HOOKS_CALLER);
	return err;
}

HOOK void *memalign(size_t alignment, size_t size)
{
	struct gl_ring *ring;
	void *block;

	if (unlikely(!real.malloc) && !real_resolve())
		return bump_alloc(size, alignment);
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	block = real.memalign(alignment, size);
	hooks_leave_real(ring);
	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

HOOK void *aligned_alloc(size_t alignment, size_t size)
{
	struct gl_ring *ring;
	void *block;

	if (unlikely(!real.malloc) && !real_resolve())
		return bump_alloc(size, alignment);
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	block = real.aligned_alloc(alignment, size);
	hooks_leave_real(ring);
	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

HOOK void *valloc(size_t size)
{
	struct gl_ring *ring;
	void *block;

	if (unlikely(!real.malloc) && !real_resolve())
		return bump_alloc(size, 4096);
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	block = real.valloc(size);
	hooks_leave_real(ring);
	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

HOOK void *pvalloc(size_t size)
{
	struct gl_ring *ring;
	void *block;

	if (unlikely(!real.malloc) && !real_resolve())
		return bump_alloc(base_round_up(size, 4096), 4096);
	ring = hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),
				(uintptr_t)__builtin_return_address(0));
	block = real.pvalloc(size);
	hooks_leave_real(ring);
	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

HOOK size_t malloc_usable_size(void *block)
{
	if (unlikely(bump_owns(block)))
		return bump_size(block);
	if (unlikely(!real.malloc) && !real_resolve())
		return 0;
	return real.malloc_usable_size(block);
}

__attribute__((constructor)) static void hooks_load(void)
{
	if (real_resolve())
		recorder_thread();
}

__attribute__((destructor)) static void hooks_unload(void)
{
	recorder_leave();
}
