/*
 * hooks_extensions.c: hooks of functions that only allocators have
 * (hooks_wrap.h), except operator new and delete: generated from the rows of
 * the table, and written by hand for functions with an unusual shape.
 */
#include <string.h>

#include "preload/hooks/hooks_wrap.h"

/* ---- kinds of rows ---- */

#define OWN_CALLER struct hooks_caller caller = HOOKS_CALLER

#define ALLOC(name, parameters, arguments, bytes)                    \
	void *name##_wrap parameters                                 \
	{                                                            \
		OWN_CALLER;                                          \
		void *made;                                          \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		WRAP_MARKED(made = name##_real arguments);           \
		if (likely(made))                                    \
			wrap_block(GT_ALLOC, made, bytes, caller);   \
		return made;                                         \
	}

#define INTO(name, parameters, arguments, bytes)                     \
	int name##_wrap parameters                                   \
	{                                                            \
		OWN_CALLER;                                          \
		int err;                                             \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		WRAP_MARKED(err = name##_real arguments);            \
		if (likely(!err) && likely(*block))                  \
			wrap_block(GT_ALLOC, *block, bytes, caller); \
		return err;                                          \
	}

#define REALLOC(name, parameters, arguments, bytes, failed)          \
	void *name##_wrap parameters                                 \
	{                                                            \
		OWN_CALLER;                                          \
		void *made;                                          \
                                                                     \
		if (wrap_inner(caller))                              \
			return name##_real arguments;                \
		if (unlikely(bump_owns(block)))                      \
			return wrap_adopt(block, bytes, caller);     \
		if (block)                                           \
			hooks_end(GT_REALLOC_BEGIN, block, caller);  \
		WRAP_MARKED(made = name##_real arguments);           \
		if (likely(made))                                    \
			wrap_block(block ? GT_REALLOC_DONE : GT_ALLOC, \
				   made, bytes, caller);             \
		else if (block)                                      \
			hooks_address(failed, block, caller.ra,      \
				      caller.sp);                    \
		return made;                                         \
	}
#define EXPAND REALLOC

#define REALLOCARR(name)                                             \
	int name##_wrap(void *where, size_t count, size_t size)      \
	{                                                            \
		return wrap_reallocarr(name##_real, where, count, size, \
				       HOOKS_CALLER);                \
	}

#define THROWS(name, parameters, arguments, bytes) \
	WRAP_THROWS(name, false, parameters, arguments, bytes)
#define FREE(name, parameters, arguments) \
	WRAP_FREE(name, false, parameters, arguments)

static size_t own_wide(const unsigned short *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return (n + 1) * sizeof(*s);
}

#include "preload/interpose/hooked.def"

/* ---- jemalloc ---- */

/* Whether `usable` bytes satisfy the request: at least `size`, and not much
 * more than `most`. */
static bool own_fits(size_t usable, size_t size, size_t most, int flags)
{
	size_t class = nallocx_real ? nallocx_real(most, flags) : 0;

	return usable >= size && (!class || usable <= class);
}

/*
 * Resizes in place to at least `size` bytes, if possible `extra` more; returns
 * the usable size afterwards. If that is too small, or still too large, nothing
 * changed.
 */
size_t xallocx_wrap(void *block, size_t size, size_t extra, int flags)
{
	OWN_CALLER;
	size_t most = extra < SIZE_MAX - size ? size + extra : SIZE_MAX;
	size_t usable;

	if (wrap_inner(caller))
		return xallocx_real(block, size, extra, flags);
	hooks_end(GT_REALLOC_BEGIN, block, caller);
	WRAP_MARKED(usable = xallocx_real(block, size, extra, flags));
	if (own_fits(usable, size, most, flags))
		wrap_block(GT_REALLOC_DONE, block, base_min(usable, most),
			   caller);
	else
		hooks_address(GT_REALLOC_FAILED, block, caller.ra, caller.sp);
	return usable;
}

/* ---- mimalloc ---- */

/* Records the path as a new block, unless `to` is the caller's memory. */
static char *own_path(char *made, const char *to, struct hooks_caller caller)
{
	if (made && !to && !wrap_inner(caller))
		wrap_block(GT_ALLOC, made, strlen(made) + 1, caller);
	return made;
}

char *mi_realpath_wrap(const char *path, char *to)
{
	return own_path(mi_realpath_real(path, to), to, HOOKS_CALLER);
}

char *mi_heap_realpath_wrap(void *heap, const char *path, char *to)
{
	return own_path(mi_heap_realpath_real(heap, path, to), to,
			HOOKS_CALLER);
}

/* Frees only blocks of mimalloc. */
void mi_cfree_wrap(void *block)
{
	OWN_CALLER;

	if (block && mi_is_in_heap_region_real &&
	    mi_is_in_heap_region_real(block) && !wrap_inner(caller))
		hooks_end(GT_FREE, block, caller);
	WRAP_MARKED(mi_cfree_real(block));
}

static bool own_end(const void *heap, const void *area, void *block,
		    size_t size, void *argument)
{
	const struct hooks_caller *caller = argument;

	(void)heap;
	(void)area;
	(void)size;
	if (block)
		hooks_end(GT_FREE, block, *caller);
	return true;
}

/* Frees all blocks of a heap without naming them: they are listed first. A
 * block that lies aligned inside a larger block is not found that way. A
 * thread's first heap cannot be destroyed. */
void mi_heap_destroy_wrap(void *heap)
{
	OWN_CALLER;

	if (heap && mi_heap_visit_blocks_real && mi_heap_get_backing_real &&
	    heap != mi_heap_get_backing_real())
		mi_heap_visit_blocks_real(heap, true, own_end, &caller);
	WRAP_MARKED(mi_heap_destroy_real(heap));
}
