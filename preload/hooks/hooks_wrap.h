/*
 * hooks_wrap.h: what the hooks of allocators' own functions are made of, those
 * that the C library does not have (mallocx, tc_malloc, mi_malloc, operator
 * new of an allocator's own). Each is an entry that appears only where there
 * is a real one behind it (appear.h), is given to that as it came, and
 * recorded once. For a row of the table (hooked.def) there are
 *
 *	name_wrap	the entry
 *	name_real	the real function; NULL: there is none
 *
 * What an allocator's own code calls while one of its functions runs is part
 * of what that does and is not recorded (wrap_inner, hooks_within.c). A real
 * function is called, never jumped to, where that matters: what it jumps on to
 * seems to be called by us.
 *
 * All entries: any thread at any time after the constructor, also signal
 * handlers; errno is the real function's.
 */
#ifndef GNOMON_HOOKS_WRAP_H
#define GNOMON_HOOKS_WRAP_H

#include "preload/base/bump.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/appear.h"

/* Whose definition is wrapped. */
enum wrap_where {
	WRAP_ANYBODYS,
	WRAP_WITH_MALLOC,	/* in the image that provides malloc */
	WRAP_ALLOCATORS		/* anybody's, whose image is then known to be
				 * an allocator's */
};

struct wrap_group {
	unsigned first;		/* of its rows */
	enum wrap_where where;
	/* nothing of the group is looked for without this one, if not NULL */
	const char *key;
};

/* Once for an area of mimalloc's, without a block, then for each in it. */
typedef bool (*own_visitor)(const void *heap, const void *area, void *block,
			    size_t size, void *argument);

#define LOOKED_UP(result, name, parameters) \
	extern BASE_HIDDEN result(*name##_real) parameters;
#define WRAPPED(result, name, parameters)                   \
	LOOKED_UP(result, name, parameters)                 \
	BASE_HIDDEN result name##_wrap parameters ARCH_ENTRY(name##_wrap);
#include "preload/interpose/hooked.def"

/* Looks for all of them and makes those appear that there are. For the
 * constructor, once real_resolve() has returned true. */
void wrap_start(void);

#define WRAP_RANGES_MAX 8	/* allocators in one process */

struct wrap_range {
	uintptr_t start, size;
};

/* Code of the allocators' images; constant after the constructor. */
extern BASE_HIDDEN struct wrap_range wrap_ranges[WRAP_RANGES_MAX];
extern BASE_HIDDEN unsigned wrap_range_count;

/* Whether the caller lies in an allocator's image. */
static inline bool wrap_allocators(uintptr_t ra)
{
	unsigned i;

	if (ra - real.own_start < real.own_size)
		return true;	/* left a real function by a jump */
	for (i = 0; i < wrap_range_count; i++)
		if (ra - wrap_ranges[i].start < wrap_ranges[i].size)
			return true;
	return false;
}

/* Whether the call is part of another one that is recorded. What else such an
 * image has may be the program's, and call for itself. */
static inline bool wrap_inner(struct hooks_caller caller)
{
	return unlikely(wrap_allocators(caller.ra)) &&
	       (!real.reenters ||
		hooks_reentered(GT_ALLOC, caller.ra, caller.sp));
}

/* hooks_enter_real, if that is so, and more to mark. */
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

/* A block came to be: GT_ALLOC or GT_REALLOC_DONE. */
void wrap_block(unsigned kind, void *block, uint64_t size,
		struct hooks_caller caller);

/* A block of the early arena as another allocator's; NULL: it stays. */
void *wrap_adopt(void *block, uint64_t size, struct hooks_caller caller);

/* NetBSD's reallocarr: `where` is the address of a pointer to the block. */
int wrap_reallocarr(int (*function)(void *, size_t, size_t), void *where,
		    size_t count, size_t size, struct hooks_caller caller);

/*
 * function(a, b, c), which may be left by an exception: the mark is taken back
 * either way.
 */
typedef void *(*wrap_throwing)(uintptr_t a, uintptr_t b, uintptr_t c);
void *wrap_throw(const struct hooks_mark *mark, wrap_throwing function,
		 uintptr_t a, uintptr_t b, uintptr_t c);

/* A call of a real function, marked. In a function that has a `caller`. */
#define WRAP_MARKED(call)                                            \
	do {                                                         \
		struct hooks_mark wrap_mark = wrap_enter(caller);    \
                                                                     \
		call;                                                \
		hooks_leave_real(&wrap_mark);                        \
	} while (0)

/* Entries of two kinds of rows. inner: whether it is recorded when an allocator
 * itself calls it. */
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
