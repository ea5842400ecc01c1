/*
 * hooks_wrap.h: building blocks of hooks for functions that only allocators
 * have (mallocx, tc_malloc, mi_malloc, an allocator's own operator new). Each
 * hook is an entry that exists only if there is a real function behind it
 * (optional.h). It passes its arguments on unchanged and records the call once.
 * Each row of the table (hooked.def) has
 *
 *	name_wrap	the entry
 *	name_real	the real function; NULL: there is none
 *
 * Calls that an allocator makes while one of its functions runs are part of
 * that function and are not recorded (wrap_inner, hooks_reentry.c). Where that
 * matters, the real function is called, not jumped to: after a tail jump, the
 * functions that it jumps to would appear to be called by us.
 *
 * All entries: any thread at any time after the constructor, also signal
 * handlers; errno is the real function's.
 */
#ifndef GNOMON_HOOKS_WRAP_H
#define GNOMON_HOOKS_WRAP_H

#include "preload/base/bump.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/optional.h"

/* Which image's definition is wrapped. */
enum wrap_where {
	WRAP_ANYBODYS,
	WRAP_WITH_MALLOC,	/* in the image that provides malloc */
	WRAP_ALLOCATORS		/* any image's, which then counts as an
				 * allocator's */
};

struct wrap_group {
	unsigned first;		/* first row */
	enum wrap_where where;
	/* if not NULL: the group is looked up only if this function exists */
	const char *key;
};

/* Called once for each mimalloc area, without a block, then for each block in
 * it. */
typedef bool (*own_visitor)(const void *heap, const void *area, void *block,
			    size_t size, void *argument);

#define LOOKED_UP(result, name, parameters) \
	extern BASE_HIDDEN result(*name##_real) parameters;
#define WRAPPED(result, name, parameters)                   \
	LOOKED_UP(result, name, parameters)                 \
	BASE_HIDDEN result name##_wrap parameters ARCH_ENTRY(name##_wrap);
#include "preload/interpose/hooked.def"

/* Looks up all functions and makes the entries of existing ones visible. For
 * the constructor, once real_resolve() has returned true. */
void wrap_start(void);

#define WRAP_RANGES_MAX 8	/* allocators in one process */

struct wrap_range {
	uintptr_t start, size;
};

/* Code ranges of the allocators' images; constant after the constructor. */
extern BASE_HIDDEN struct wrap_range wrap_ranges[WRAP_RANGES_MAX];
extern BASE_HIDDEN unsigned wrap_range_count;

/* Whether the caller lies in an allocator's image. */
static inline bool wrap_allocators(uintptr_t ra)
{
	unsigned i;

	if (ra - real.own_start < real.own_size)
		return true;	/* tail-called by a real function */
	for (i = 0; i < wrap_range_count; i++)
		if (ra - wrap_ranges[i].start < wrap_ranges[i].size)
			return true;
	return false;
}

/* Whether the call is part of another recorded call. Other code in such an
 * image may be the program's, and call on its own account. */
static inline bool wrap_inner(struct hooks_caller caller)
{
	return unlikely(wrap_allocators(caller.ra)) &&
	       (!real.reenters ||
		hooks_reentered(GT_ALLOC, caller.ra, caller.sp));
}

/* hooks_enter_real if real functions may call our hooks; more: as there. */
static inline struct hooks_mark wrap_enter_as(struct hooks_caller caller,
					      uint64_t more)
{
	if (!real.reenters)
		return (struct hooks_mark){ .set = false };
	return hooks_enter_real(caller.sp, caller.ra, more);
}

static inline struct hooks_mark wrap_enter(struct hooks_caller caller)
{
	return wrap_enter_as(caller, 0);
}

/* Records a new block: GT_ALLOC or GT_REALLOC_DONE. */
void wrap_block(unsigned kind, void *block, uint64_t size,
		struct hooks_caller caller);

/* Moves a block of the early arena (bump.h) into another allocator; NULL: it
 * stays. */
void *wrap_adopt(void *block, uint64_t size, struct hooks_caller caller);

/* NetBSD's reallocarr: `where` is the address of a pointer to the block. */
int wrap_reallocarr(int (*function)(void *, size_t, size_t), void *where,
		    size_t count, size_t size, struct hooks_caller caller);

/*
 * Calls function(a, b, c), which may throw; the mark is removed in either case.
 */
typedef void *(*wrap_throwing)(uintptr_t a, uintptr_t b, uintptr_t c);
void *wrap_throw(const struct hooks_mark *mark, wrap_throwing function,
		 uintptr_t a, uintptr_t b, uintptr_t c);

/* Calls a real function with a mark. For functions that have a variable
 * `caller`. */
#define WRAP_MARKED(call)                                            \
	do {                                                         \
		struct hooks_mark wrap_mark = wrap_enter(caller);    \
                                                                     \
		call;                                                \
		hooks_leave_real(&wrap_mark);                        \
	} while (0)

/* Entries for two kinds of rows. inner: whether calls by an allocator itself
 * are recorded. */
#define WRAP_THROWS(name, inner, parameters, arguments, bytes)       \
	void *name##_wrap parameters                                 \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		struct hooks_mark mark;                              \
		void *made;                                          \
                                                                     \
		if (!(inner) && wrap_inner(caller))                  \
			return name##_real arguments;                \
		/* exceptions that it catches are freed inside */    \
		mark = wrap_enter_as(caller, RING_IN_NEW);           \
		made = wrap_throw(&mark, (wrap_throwing)(void *)name##_real, \
				  WRAP_WORDS arguments);             \
		if (likely(made))                                    \
			wrap_block(GT_ALLOC, made, bytes, caller);   \
		return made;                                         \
	}
#define WRAP_WORDS(...) WRAP_THREE(__VA_ARGS__, 0, 0, 0)
#define WRAP_THREE(a, b, c, ...) (uintptr_t)(a), (uintptr_t)(b), (uintptr_t)(c)

#define WRAP_FREE(name, inner, parameters, arguments)                \
	void name##_wrap parameters                                  \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
                                                                     \
		if (unlikely(bump_owns(block)))                      \
			return;                                      \
		if (!(inner) && wrap_inner(caller)) {                \
			name##_real arguments;                       \
			return;                                      \
		}                                                    \
		if (likely(block))                                   \
			hooks_end(GT_FREE, block, caller);           \
		WRAP_MARKED(name##_real arguments);                  \
	}

#endif
