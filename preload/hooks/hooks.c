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

#include "preload/base/bump.h"
#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/appear.h"
#include "preload/sample/aside.h"

/* With all of the fast path in it, but for the slow functions. */
#define HOOKS_WHOLE __attribute__((flatten))

#define CORE(result, name, parameters, arguments) result name parameters;
#include "preload/interpose/hooked.def"

/* malloc with all that is recorded of it. malloc jumps here, so that its caller
 * is this one's. */
static __attribute__((noinline)) HOOKS_WHOLE void *hooks_malloc(size_t size)
{
	void *block = real.malloc(size);

	if (likely(block))
		hooks_block(GT_ALLOC, block, size, HOOKS_CALLER);
	return block;
}

static BASE_SLOW void *hooks_malloc_early(size_t size)
{
	return real_resolve() ? hooks_malloc(size) : bump_alloc(size, 0);
}

/* Where hardly anything is recorded this is malloc's usual way: no frame. */
static inline __attribute__((always_inline)) void *hooks_malloc_aside(size_t size)
{
	struct thread *thread = recorder_tls;

	if (likely(thread) && likely(aside_passes_over(thread, size)))
		return real.malloc(size);
	if (unlikely(!real.malloc))
		return hooks_malloc_early(size);
	if (likely(aside_sleeps(thread)))
		return real.malloc(size);
	return hooks_malloc(size);
}

HOOK void *malloc(size_t size)
{
	if (likely(aside_way == ASIDE_NOT))
		return hooks_malloc(size);
	return hooks_malloc_aside(size);
}

/* free jumps here, so that it needs no frame itself; this one's then lies where
 * that of a hook has to be. */
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

/* Blocks that were recorded lie on the same line of the set. */
static __attribute__((noinline)) void
hooks_free_chosen(void *block, uintptr_t ra, uintptr_t sp)
{
	if (likely(block) && likely(chosen_never(&sample->chosen,
						 (uintptr_t)block)))
		real.free(block);
	else
		hooks_free_slow(block, ra, sp);
}

/* Where hardly anything is recorded this is free's usual way: no frame. */
static inline __attribute__((always_inline)) void
hooks_free_aside(void *block, uintptr_t ra, uintptr_t sp)
{
	const struct sample *s = sample;

	if (likely(aside_way == ASIDE_CHOICE) && likely(s)) {
		if (likely(chosen_empty(&s->chosen, (uintptr_t)block)))
			real.free(block);
		else
			hooks_free_chosen(block, ra, sp);
	} else if (likely(aside_sleeps(recorder_tls)) && likely(real.malloc) &&
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
	uintptr_t ra = (uintptr_t)__builtin_return_address(0);
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa();

	if (unlikely(aside_way != ASIDE_NOT))
		hooks_free_aside(block, ra, sp);
	else if (likely(block) &&
		 likely(hooks_address_fast(GT_FREE, block, ra, sp)))
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

		if (__builtin_mul_overflow(count, size, &all))
			return NULL;
		return bump_alloc(all, 0);
	}
	block = real.calloc(count, size);
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
	void *to;

	if (unlikely(!real.malloc) && !real_resolve())
		return hooks_realloc_early(block, size, caller);
	if (unlikely(bump_owns(block)))
		return hooks_realloc_early(block, size, caller);
	if (block)
		hooks_end(GT_REALLOC_BEGIN, block, caller);
	to = real.realloc(block, size);
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

	if (unlikely(__builtin_mul_overflow(count, size, &all))) {
		if (real.reallocarray)
			return real.reallocarray(block, count, size);
		all = SIZE_MAX;
	}
	return hooks_realloc(block, all, HOOKS_CALLER);
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
		hooks_block(GT_ALLOC, *block, size, HOOKS_CALLER);
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
		if (likely(block))                                    \
			hooks_block(GT_ALLOC, block, size, HOOKS_CALLER); \
		return block;                                         \
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

/* By names that nobody else's can stand before. */
#define CORE(result, name, parameters, arguments)    \
	extern __typeof__(name) hooks_our_##name     \
		__attribute__((alias(#name))) BASE_HIDDEN;
#include "preload/interpose/hooked.def"

static const struct appear hooks_rows[] = {
#define CORE(result, name, parameters, arguments) \
	{ #name, (void *)hooks_our_##name, (void **)&real.name },
#include "preload/interpose/hooked.def"
};

#define HOOKS_ROWS (sizeof(hooks_rows) / sizeof(*hooks_rows))

void hooks_in_front(void)
{
	appear_in_front(hooks_rows, HOOKS_ROWS);
}

/* The last is made of ours, and may not be there. */
void hooks_in_provider(void)
{
	const struct real *below = real_below ? real_below : &real;
	struct appear rows[HOOKS_ROWS - 1];
	unsigned i;

	for (i = 0; i < HOOKS_ROWS - 1; i++) {
		rows[i] = hooks_rows[i];
		rows[i].real = (void **)((uintptr_t)rows[i].real +
					 (uintptr_t)below - (uintptr_t)&real);
	}
	appear_in_table(&real_provider, rows, HOOKS_ROWS - 1);
}
