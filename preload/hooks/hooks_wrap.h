/*
 * hooks_wrap.h: what the hooks of allocators' own functions are made of, those
 * that the C library does not have (mallocx, tc_malloc, mi_malloc, operator
 * new of an allocator's own). Each is an entry that appears only where there
 * is a real one behind it (appear.h), is given to that as it came, and
 * recorded once.
 *
 *	WRAP_ALLOC(name, parameters, arguments, bytes)	returns a block
 *	WRAP_THROW(…)		the same, may be left by an exception
 *	WRAP_INTO(…, where, …)	posix_memalign's kind
 *	WRAP_FREE(…, block)	ends one
 *	WRAP_REALLOC(…, old, bytes, failed)  makes one of another; what becomes
 *				of the old one where it fails (enum gt_event)
 *	WRAP_ROW(name)		its row in the table
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
#include "preload/hooks/guard_rows.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/appear.h"

/* Whose definition is wrapped. */
enum wrap_where {
	WRAP_ANYBODYS,
	WRAP_WITH_MALLOC,	/* in the image that provides malloc */
	WRAP_ALLOCATORS		/* anybody's, whose image is then known to be
				 * an allocator's */
};

struct wrap_table {
	const struct appear *rows;
	size_t count;
	enum wrap_where where;
	/* nothing of the table is looked for without this one, if not NULL */
	const char *key;
};

/* In files of their names; hooks_kin in hooks_libc.c. */
extern BASE_HIDDEN const struct wrap_table hooks_new, hooks_je, hooks_tc,
	hooks_mi, hooks_kin, hooks_libc, hooks_tuning,
	hooks_map;

/* Looks for all of them and makes those appear that there are. For the
 * constructor, once real_resolve() has returned true. */
void wrap_start(void);

#define WRAP_COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
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

#define WRAP(result, name, parameters)       \
	APPEAR(name);                        \
	static result(*name##_real) parameters; \
	static result name##_wrap parameters

#define WRAP_ROW(name) { #name, (void *)name##_wrap, (void **)&name##_real }

#define WRAP_ALLOC(name, parameters, arguments, bytes)               \
	WRAP(void *, name, parameters)                               \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		struct hooks_mark mark;                              \
		void *made;                                          \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		mark = wrap_enter(caller);                           \
		made = name##_real arguments;                        \
		hooks_leave_real(&mark);                             \
		if (likely(made))                                    \
			wrap_block(GT_ALLOC, made, bytes, caller);   \
		return made;                                         \
	}

/* `inner`: whether it is recorded when an allocator itself calls it. Its
 * arguments are three words, unused ones 0. */
#define WRAP_THROW(name, inner, parameters, a, b, c, bytes)          \
	WRAP(void *, name, parameters)                               \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		wrap_throwing function = (wrap_throwing)(void *)name##_real; \
		struct hooks_mark mark;                              \
		void *made;                                          \
                                                                     \
		if (!(inner) && wrap_inner(caller))                  \
			return function((uintptr_t)(a), (uintptr_t)(b), \
					(uintptr_t)(c));             \
		/* exceptions that it catches are freed inside */    \
		mark = wrap_enter_as(caller, RING_IN_NEW);           \
		made = wrap_throw(&mark, function, (uintptr_t)(a),   \
				  (uintptr_t)(b), (uintptr_t)(c));   \
		if (likely(made))                                    \
			wrap_block(GT_ALLOC, made, bytes, caller);   \
		return made;                                         \
	}

#define WRAP_INTO(name, parameters, arguments, where, bytes)         \
	WRAP(int, name, parameters)                                  \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		struct hooks_mark mark;                              \
		int err;                                             \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		mark = wrap_enter(caller);                           \
		err = name##_real arguments;                         \
		hooks_leave_real(&mark);                             \
		if (likely(!err) && likely(*(void **)(where)))       \
			wrap_block(GT_ALLOC, *(void **)(where), bytes, \
				   caller);                          \
		return err;                                          \
	}

/* `inner` as above: operators are. */
#define WRAP_FREE_OF(name, inner, parameters, arguments, block)      \
	WRAP(void, name, parameters)                                 \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		struct hooks_mark mark;                              \
                                                                     \
		if (unlikely(bump_owns(block)))                      \
			return;                                      \
		if (!(inner) && wrap_inner(caller)) {                \
			name##_real arguments;                       \
			return;                                      \
		}                                                    \
		if (likely(block))                                   \
			hooks_end(GT_FREE, block, caller);           \
		mark = wrap_enter(caller);                           \
		name##_real arguments;                               \
		hooks_leave_real(&mark);                             \
	}                                                            \
	GUARD_FREE(name, parameters, arguments, block)

#define WRAP_FREE(name, parameters, arguments, block) \
	WRAP_FREE_OF(name, false, parameters, arguments, block)

#define WRAP_REALLOC(name, parameters, arguments, old, bytes, failed) \
	WRAP_RESIZE(name, parameters, arguments, old, bytes, failed) \
	GUARD_REALLOC(name, parameters, arguments, old, bytes)

/* The same without what guarded blocks need. */
#define WRAP_RESIZE(name, parameters, arguments, old, bytes, failed) \
	WRAP(void *, name, parameters)                               \
	{                                                            \
		struct hooks_caller caller = HOOKS_CALLER;           \
		struct hooks_mark mark;                              \
		void *made;                                          \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		if (unlikely(bump_owns(old)))                        \
			return wrap_adopt(old, bytes, caller);       \
		if (old)                                             \
			hooks_end(GT_REALLOC_BEGIN, old, caller);    \
		mark = wrap_enter(caller);                           \
		made = name##_real arguments;                        \
		hooks_leave_real(&mark);                             \
		if (likely(made))                                    \
			wrap_block(old ? GT_REALLOC_DONE : GT_ALLOC, made, \
				   bytes, caller);                   \
		else if (old)                                        \
			hooks_address(failed, old, caller.ra,        \
				      caller.sp);                    \
		return made;                                         \
	}

#endif
