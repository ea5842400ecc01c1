/*
 * hooks.c: hooks of the C library's allocation functions.
 *
 * Each calls the real function with its own arguments, so results, alignment
 * and errno are the real allocator's, and records what happened: a new block
 * after the real call, a freed one before it (else another thread could get the
 * address, and its stamp, first). realloc records both halves.
 *
 *	malloc ─▶ real.malloc ─▶ busy ─▶ stamp ─▶ capture_stack ─▶ ring ─▶ idle
 *
 * Called by the program from everywhere: before the C library is initialised,
 * from resolvers of indirect functions, constructors, the loader, signal
 * handlers, TLS destructors, after main. Budget of the fast path, without the
 * capture: 12 ns for a pair (make bench).
 *
 * I1: errno and the arguments of the real call are never changed. I2: blocks of
 * the bump arena never reach a real function, and are not recorded. I3: before
 * real.malloc is set, nothing is used that needs relocation.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/base/bump.h"
#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/optional.h"
#include "preload/sample/skip.h"

/* Inlines the whole fast path, without the slow functions. */
#define HOOKS_WHOLE __attribute__((flatten))

#define CORE(result, name, parameters, arguments) \
	result name parameters ARCH_ENTRY(name);
#include "preload/interpose/hooked.def"

/* hooks_made tail-calls one of the next two functions for the slow cases. So it
 * has no call, and saves hardly any register. Their frame then is where the
 * hook's frame was; if a compiler calls them instead, the hook's frame still
 * exists. */
static inline __attribute__((always_inline)) struct hooks_caller
hooks_caller_at(uintptr_t ra, uintptr_t sp)
{
	/* forces a frame */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	return (struct hooks_caller){ ra, sp, *(uintptr_t *)path_key(sp) };
}

/* Records the event from the start. */
static __attribute__((noinline)) void *
hooks_made_slow(void *block, uint64_t size, unsigned kind, uintptr_t ra,
		uintptr_t sp)
{
	struct thread *thread = producer_tls;

	if ((!thread || !skip_unsampled_block(thread, kind, size)) &&
	    !skip_all(thread))
		hooks_block_slow(kind, hooks_word1(block), size,
				 hooks_caller_at(ra, sp));
	return block;
}

/* Records the rest of the event; the ring is entered. missed: the event has its
 * stamp, its stack is not in the path cache. */
static __attribute__((noinline)) void *
hooks_made_rest(void *block, uint64_t size, unsigned kind, uintptr_t sp,
		struct gl_ring *ring, bool missed)
{
	/* (not from the ring's `owner`: a handler may have interrupted its
	 * stores) */
	struct hooks_caller caller =
		hooks_caller_at(*(uintptr_t *)(sp + ARCH_HOOK_RA), sp);
	struct thread *thread = producer_tls;
	uint32_t context;

	if (unlikely(!missed) && likely(thread->shared))	/* fork_copy.h */
		ring_stamp(thread->shared, ring);
	context = likely(missed) && likely(thread->capture) ?
			  capture_slow(thread->capture, caller.ra, sp,
				       caller.fp) :
			  hooks_capture(thread, caller);
	ring_push_block(producer, ring, kind, hooks_word1(block), context,
			size);
	ring_leave(ring);
	return block;
}

/* hooks_block_of as the last call of a hook; returns the block. */
static inline __attribute__((always_inline)) void *
hooks_made(unsigned kind, void *block, uint64_t size,
	   struct hooks_caller caller)
{
	struct thread *thread = producer_tls;
	uintptr_t key = path_key(caller.sp);
	struct capture_thread *capture;
	struct gl_shared *shared;
	const struct path *path;
	struct gl_ring *ring;
	uint64_t word1;

	if (unlikely(!thread) ||
	    unlikely(!(ring = hooks_ring(thread, &shared))) ||
	    unlikely(!ring_idle(ring)))
		return hooks_made_slow(block, size, kind, caller.ra, caller.sp);
	/* kept in a register: the words of a path are addressed from it */
	__asm__("" : "+r"(key));
	caller.sp = key - ARCH_HOOK_FP;
	ring_enter(ring, caller.sp, caller.ra);
	if (unlikely(!ring_stamp_simple(shared, ring)))
		return hooks_made_rest(block, size, kind, caller.sp, ring, false);
	capture = thread->capture;
	if (unlikely(!capture) || unlikely(!capture_is_current(capture)) ||
	    unlikely(!(path = path_match(capture, caller.ra, key))))
		return hooks_made_rest(block, size, kind, caller.sp, ring, true);
	if (unlikely(!path_ends_simply(capture, path)) ||
	    unlikely(!hooks_word1_fast(block, &word1)) ||
	    unlikely(!ring_push_block_fast(ring, kind, word1, path->context,
					   size)))
		return hooks_made_rest(block, size, kind, caller.sp, ring, false);
	ring_leave(ring);
	return block;
}

/* malloc, recorded. malloc jumps here, so the caller is malloc's caller. */
static __attribute__((noinline)) HOOKS_WHOLE void *hooks_malloc(size_t size)
{
	void *block = real.malloc(size);

	return likely(block) ?
		       hooks_made(GT_ALLOC, block, size, HOOKS_CALLER) : block;
}

static BASE_SLOW void *hooks_malloc_early(size_t size)
{
	return real_resolve() ? hooks_malloc(size) : bump_alloc(size, 0);
}

/* malloc's usual path when little is recorded: needs no frame. */
static inline __attribute__((always_inline)) void *
hooks_malloc_skip(size_t size)
{
	struct thread *thread = producer_tls;

	if (likely(thread) && likely(skip_unsampled(thread, size)))
		return real.malloc(size);
	if (unlikely(!real.malloc))
		return hooks_malloc_early(size);
	if (likely(skip_all(thread)))
		return real.malloc(size);
	return hooks_malloc(size);
}

HOOK void *malloc(size_t size)
{
	if (likely(skip_mode == SKIP_NONE))
		return hooks_malloc(size);
	return hooks_malloc_skip(size);
}

/* free jumps here, so that it needs no frame itself; this function's frame is
 * where a hook's must be. */
static BASE_SLOW void hooks_free_slow(void *block, uintptr_t ra, uintptr_t sp)
{
	struct hooks_caller caller = HOOKS_CALLER;

	if (bump_owns(block))
		return;
	if (!real.malloc && !real_resolve())
		return;
	if (block && hooks_stacks_wanted() && likely(caller.sp == sp))
		hooks_end_stacked(GT_FREE, (uintptr_t)block, caller.ra, sp,
				  caller.fp);
	else if (block)
		hooks_address_slow(GT_FREE, (uintptr_t)block, ra, sp);
	real.free(block);
}

/* The block's line of the sampled set has entries. */
static __attribute__((noinline)) void
hooks_free_sampled(void *block, uintptr_t ra, uintptr_t sp)
{
	if (likely(block) && likely(sampled_set_never(&sample->sampled_set,
						      (uintptr_t)block)))
		real.free(block);
	else
		hooks_free_slow(block, ra, sp);
}

/* free's usual path when little is recorded: needs no frame. */
static inline __attribute__((always_inline)) void
hooks_free_skip(void *block, uintptr_t ra, uintptr_t sp)
{
	const struct sample *s = sample;

	/* (not free's value again: that would take a register) */
	if (likely(__atomic_load_n(&skip_mode, __ATOMIC_RELAXED) ==
		   SKIP_SAMPLED) && likely(s)) {
		if (likely(sampled_set_empty(&s->sampled_set,
					     (uintptr_t)block)))
			real.free(block);
		else
			hooks_free_sampled(block, ra, sp);
	} else if (likely(skip_all(producer_tls)) && likely(real.malloc) &&
		   likely((uintptr_t)block - (uintptr_t)bump_arena >=
			  BUMP_SIZE) &&
		   likely(!bump_extended)) {
		real.free(block);
	} else {
		hooks_free_slow(block, ra, sp);
	}
}

HOOK void free(void *block)
{
	uintptr_t ra = ARCH_CALLER_RA, sp = ARCH_CALLER_SP;

	__asm__("" : "+r"(sp));	/* computed once */
	if (unlikely(skip_mode != SKIP_NONE))
		hooks_free_skip(block, ra, sp);
	else if (likely(block) &&
		 likely(hooks_address_fast(GT_FREE, (uintptr_t)block,
					   ra, sp)))
		real.free(block);
	else
		hooks_free_slow(block, ra, sp);
}

/* The product is only recorded after the real function has accepted it. */
HOOK HOOKS_WHOLE void *calloc(size_t count, size_t size)
{
	void *block;

	if (unlikely(!real.malloc) && !real_resolve()) {
		size_t all;

		return __builtin_mul_overflow(count, size, &all) ?
			       NULL : bump_alloc(all, 0);
	}
	block = real.calloc(count, size);
	return likely(block) ? hooks_made(GT_ALLOC, block, count * size,
					  HOOKS_CALLER) : block;
}

/* Moves a block out of the early arena; within it while there is no real
 * allocator yet. */
static BASE_SLOW void *hooks_realloc_early(void *block, size_t size,
					   struct hooks_caller caller)
{
	void *to;

	if (!real.malloc && !real_resolve()) {
		to = bump_alloc(size, 0);
	} else {
		to = real.malloc(size);
		if (to)
			hooks_block_of(true, GT_ALLOC, to, size, caller);
	}
	if (to && block)
		memcpy(to, block, base_min(size, bump_size(block)));
	return to;
}

static inline __attribute__((always_inline)) void *
hooks_realloc(void *block, size_t size)
{
	void *to;

	/* else all is resolved, and the block is not of the arena (skip.h) */
	if (unlikely(skip_mode != SKIP_NONE) &&
	    ((unlikely(!real.malloc) && !real_resolve()) ||
	     unlikely(bump_owns(block))))
		return hooks_realloc_early(block, size, HOOKS_CALLER);
	if (block)
		hooks_end(GT_REALLOC_BEGIN, block, HOOKS_CALLER);
	to = real.realloc(block, size);
	if (likely(to))
		return hooks_made(block ? GT_REALLOC_DONE : GT_ALLOC, to, size,
				  HOOKS_CALLER);
	if (block)
		hooks_address(size ? GT_REALLOC_FAILED : GT_REALLOC_FREED,
			      block, HOOKS_CALLER.ra, HOOKS_CALLER.sp);
	return to;
}

HOOK HOOKS_WHOLE void *realloc(void *block, size_t size)
{
	return hooks_realloc(block, size);
}

/* C libraries' own reallocarray calls realloc, so this one calls ours; for an
 * impossible request the real one sets errno. */
HOOK void *reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	if (unlikely(__builtin_mul_overflow(count, size, &all))) {
		if (real.reallocarray)
			return real.reallocarray(block, count, size);
		all = SIZE_MAX;
	}
	return hooks_realloc(block, all);
}

HOOK int posix_memalign(void **block, size_t alignment, size_t size)
{
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
	err = real.posix_memalign(block, alignment, size);
	/* size 0 may give NULL */
	if (likely(!err) && likely(*block))
		hooks_block_of(true, GT_ALLOC, *block, size, HOOKS_CALLER);
	return err;
}

#define ALIGNED(name, parameters, arguments, alignment, bytes)        \
	HOOK void *name parameters                                    \
	{                                                             \
		void *block;                                          \
                                                                      \
		if (unlikely(!real.malloc) && !real_resolve())        \
			return bump_alloc(bytes, alignment);          \
		block = real.name arguments;                          \
		return likely(block) ? hooks_made(GT_ALLOC, block, size, \
						  HOOKS_CALLER) : block; \
	}
#include "preload/interpose/hooked.def"

HOOK size_t malloc_usable_size(void *block)
{
	if (unlikely(bump_owns(block)))
		return bump_size(block);
	if (unlikely(!real.malloc) && !real_resolve())
		return 0;
	return real.malloc_usable_size(block);
}

/* Hidden names, which no other library can override. */
#define CORE(result, name, parameters, arguments)    \
	extern __typeof__(name) hooks_our_##name     \
		ARCH_ENTRY_ALIAS(name) BASE_HIDDEN;
#include "preload/interpose/hooked.def"

static const struct optional hooks_rows[] = {
#define CORE(result, name, parameters, arguments) \
	{ #name, (void *)hooks_our_##name, (void **)&real.name },
#include "preload/interpose/hooked.def"
};

#define HOOKS_ROWS (sizeof(hooks_rows) / sizeof(*hooks_rows))

void hooks_in_front(void)
{
	optional_in_front(hooks_rows, HOOKS_ROWS);
}

/* reallocarray calls our realloc, and may not exist. */
void hooks_in_provider(void)
{
	const struct real *below = real_below ? real_below : &real;
	struct optional rows[HOOKS_ROWS - 1];
	unsigned i;

	for (i = 0; i < HOOKS_ROWS - 1; i++) {
		rows[i] = hooks_rows[i];
		rows[i].real = (void **)((uintptr_t)rows[i].real +
					 (uintptr_t)below - (uintptr_t)&real);
	}
	optional_in_table(&real_provider, rows, HOOKS_ROWS - 1);
}
