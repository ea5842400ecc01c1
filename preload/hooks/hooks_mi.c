/*
 * hooks_mi.c: mimalloc's functions beyond the C library's. Most exist twice,
 * the second time with a heap as their first argument.
 *
 * What only tells or tunes (mi_usable_size, mi_good_size, mi_stats_…,
 * mi_option_…, mi_collect) is not touched. mi_heap_delete ends no block;
 * mi_heap_destroy ends all of its heap's, and names none: they are asked for
 * first. One that lies aligned inside a larger block is not found that way.
 */
#include <string.h>

#include "preload/hooks/hooks_wrap.h"

#define P(...) __VA_ARGS__

#define MI_ALLOC(name, parameters, arguments, bytes)                  \
	WRAP_ALLOC(mi_##name, (parameters), (arguments), bytes)       \
	WRAP_ALLOC(mi_heap_##name, (void *heap, parameters),          \
		   (heap, arguments), bytes)
#define MI_REALLOC(name, parameters, arguments, bytes, failed)        \
	WRAP_REALLOC(mi_##name, (void *block, parameters),            \
		     (block, arguments), block, bytes, failed)        \
	WRAP_REALLOC(mi_heap_##name, (void *heap, void *block, parameters), \
		     (heap, block, arguments), block, bytes, failed)
#define MI_ROW(name) WRAP_ROW(mi_##name), WRAP_ROW(mi_heap_##name)

MI_ALLOC(malloc, P(size_t size), P(size), size)
MI_ALLOC(zalloc, P(size_t size), P(size), size)
MI_ALLOC(calloc, P(size_t count, size_t size), P(count, size), count * size)
MI_ALLOC(mallocn, P(size_t count, size_t size), P(count, size), count * size)
MI_ALLOC(malloc_small, P(size_t size), P(size), size)
MI_ALLOC(strdup, P(const char *s), P(s), strlen(made) + 1)
MI_ALLOC(strndup, P(const char *s, size_t n), P(s, n), strlen(made) + 1)
MI_ALLOC(malloc_aligned, P(size_t size, size_t alignment),
	 P(size, alignment), size)
MI_ALLOC(malloc_aligned_at, P(size_t size, size_t alignment, size_t offset),
	 P(size, alignment, offset), size)
MI_ALLOC(zalloc_aligned, P(size_t size, size_t alignment),
	 P(size, alignment), size)
MI_ALLOC(zalloc_aligned_at, P(size_t size, size_t alignment, size_t offset),
	 P(size, alignment, offset), size)
MI_ALLOC(calloc_aligned, P(size_t count, size_t size, size_t alignment),
	 P(count, size, alignment), count * size)
MI_ALLOC(calloc_aligned_at,
	 P(size_t count, size_t size, size_t alignment, size_t offset),
	 P(count, size, alignment, offset), count * size)

MI_REALLOC(realloc, P(size_t size), P(size), size, GT_REALLOC_FAILED)
MI_REALLOC(reallocn, P(size_t count, size_t size), P(count, size),
	   count * size, GT_REALLOC_FAILED)
MI_REALLOC(reallocf, P(size_t size), P(size), size, GT_REALLOC_FREED)
MI_REALLOC(rezalloc, P(size_t size), P(size), size, GT_REALLOC_FAILED)
MI_REALLOC(recalloc, P(size_t count, size_t size), P(count, size),
	   count * size, GT_REALLOC_FAILED)
MI_REALLOC(realloc_aligned, P(size_t size, size_t alignment),
	   P(size, alignment), size, GT_REALLOC_FAILED)
MI_REALLOC(realloc_aligned_at,
	   P(size_t size, size_t alignment, size_t offset),
	   P(size, alignment, offset), size, GT_REALLOC_FAILED)
MI_REALLOC(rezalloc_aligned, P(size_t size, size_t alignment),
	   P(size, alignment), size, GT_REALLOC_FAILED)
MI_REALLOC(rezalloc_aligned_at,
	   P(size_t size, size_t alignment, size_t offset),
	   P(size, alignment, offset), size, GT_REALLOC_FAILED)
MI_REALLOC(recalloc_aligned, P(size_t count, size_t size, size_t alignment),
	   P(count, size, alignment), count * size, GT_REALLOC_FAILED)
MI_REALLOC(recalloc_aligned_at,
	   P(size_t count, size_t size, size_t alignment, size_t offset),
	   P(count, size, alignment, offset), count * size,
	   GT_REALLOC_FAILED)

/* Those without a heap. */
WRAP_ALLOC(mi_zalloc_small, (size_t size), (size), size)
WRAP_ALLOC(mi_memalign, (size_t alignment, size_t size), (alignment, size),
	   size)
WRAP_ALLOC(mi_aligned_alloc, (size_t alignment, size_t size),
	   (alignment, size), size)
WRAP_ALLOC(mi_valloc, (size_t size), (size), size)
WRAP_ALLOC(mi_pvalloc, (size_t size), (size), size)
WRAP_ALLOC(mi_mbsdup, (const unsigned char *s), (s), strlen(made) + 1)
WRAP_INTO(mi_posix_memalign, (void **block, size_t alignment, size_t size),
	  (block, alignment, size), block, size)
WRAP_INTO(mi_dupenv_s, (char **block, size_t *length, const char *variable),
	  (block, length, variable), block, strlen(*block) + 1)
/* Never moves a block. */
WRAP_RESIZE(mi_expand, (void *block, size_t size), (block, size), block, size,
	    GT_REALLOC_FAILED)
GUARD_EXPAND(mi_expand, (void *block, size_t size), (block, size), block, size)
WRAP_RESIZE(mi__expand, (void *block, size_t size), (block, size), block,
	    size, GT_REALLOC_FAILED)
GUARD_EXPAND(mi__expand, (void *block, size_t size), (block, size), block,
	     size)
WRAP_REALLOC(mi_reallocarray, (void *block, size_t count, size_t size),
	     (block, count, size), block, count * size, GT_REALLOC_FAILED)
WRAP_REALLOC(mi_aligned_recalloc,
	     (void *block, size_t count, size_t size, size_t alignment),
	     (block, count, size, alignment), block, count * size,
	     GT_REALLOC_FAILED)
WRAP_REALLOC(mi_aligned_offset_recalloc,
	     (void *block, size_t count, size_t size, size_t alignment,
	      size_t offset),
	     (block, count, size, alignment, offset), block, count * size,
	     GT_REALLOC_FAILED)
WRAP_REALLOC(mi_new_realloc, (void *block, size_t size), (block, size), block,
	     size, GT_REALLOC_FAILED)
WRAP_REALLOC(mi_new_reallocn, (void *block, size_t count, size_t size),
	     (block, count, size), block, count * size, GT_REALLOC_FAILED)
WRAP_FREE(mi_free, (void *block), (block), block)
WRAP_FREE(mi_free_size, (void *block, size_t size), (block, size), block)
WRAP_FREE(mi_free_size_aligned, (void *block, size_t size, size_t alignment),
	  (block, size, alignment), block)
WRAP_FREE(mi_free_aligned, (void *block, size_t alignment),
	  (block, alignment), block)

/* As operator new: they may throw. */
WRAP_THROW(mi_new, false, (size_t size), size, 0, 0, size)
WRAP_THROW(mi_new_aligned, false, (size_t size, size_t alignment), size,
	   alignment, 0, size)
WRAP_THROW(mi_new_nothrow, false, (size_t size), size, 0, 0, size)
WRAP_THROW(mi_new_aligned_nothrow, false, (size_t size, size_t alignment),
	   size, alignment, 0, size)
WRAP_THROW(mi_new_n, false, (size_t count, size_t size), count, size, 0,
	   count * size)
WRAP_THROW(mi_heap_alloc_new, false, (void *heap, size_t size), heap, size, 0,
	   size)
WRAP_THROW(mi_heap_alloc_new_n, false,
	   (void *heap, size_t count, size_t size), heap, count, size,
	   count * size)

static size_t hooks_mi_wide(const unsigned short *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return (n + 1) * sizeof(*s);
}

WRAP_ALLOC(mi_wcsdup, (const unsigned short *s), (s), hooks_mi_wide(made))

/* Into the caller's memory, unless `to` is NULL. */
#define MI_REALPATH(name, parameters, arguments)                      \
	WRAP(char *, name, parameters)                                \
	{                                                             \
		struct hooks_caller caller = HOOKS_CALLER;            \
		char *made = name##_real arguments;                   \
                                                                      \
		if (made && !to && !wrap_inner(caller))            \
			wrap_block(GT_ALLOC, made, strlen(made) + 1,  \
				   caller);                           \
		return made;                                          \
	}

MI_REALPATH(mi_realpath, (const char *path, char *to), (path, to))
MI_REALPATH(mi_heap_realpath, (void *heap, const char *path, char *to),
	    (heap, path, to))

WRAP(int, mi_reallocarr, (void *where, size_t count, size_t size))
{
	return wrap_reallocarr(mi_reallocarr_real, where, count, size,
			       HOOKS_CALLER);
}

static bool (*hooks_mi_owns)(const void *block);

/* Frees only what is mimalloc's. */
WRAP(void, mi_cfree, (void *block))
{
	struct hooks_caller caller = HOOKS_CALLER;
	struct hooks_mark mark;

	if (block && hooks_mi_owns && hooks_mi_owns(block) &&
	    !wrap_inner(caller))
		hooks_end(GT_FREE, block, caller);
	mark = wrap_enter(caller);
	mi_cfree_real(block);
	hooks_leave_real(&mark);
}

typedef bool (*hooks_mi_visitor)(const void *heap, const void *area,
				 void *block, size_t size, void *argument);
static bool (*hooks_mi_visit)(const void *heap, bool blocks,
			      hooks_mi_visitor visitor, void *argument);
static void *(*hooks_mi_backing)(void);

/* Once for an area, without a block, then for each block in it. */
static bool hooks_mi_end(const void *heap, const void *area, void *block,
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

/* A thread's first heap cannot be destroyed. */
WRAP(void, mi_heap_destroy, (void *heap))
{
	struct hooks_caller caller = HOOKS_CALLER;
	struct hooks_mark mark;

	if (heap && hooks_mi_visit && hooks_mi_backing &&
	    heap != hooks_mi_backing())
		hooks_mi_visit(heap, true, hooks_mi_end, &caller);
	mark = wrap_enter(caller);
	mi_heap_destroy_real(heap);
	hooks_leave_real(&mark);
}

static const struct appear hooks_mi_rows[] = {
	MI_ROW(malloc),
	MI_ROW(zalloc),
	MI_ROW(calloc),
	MI_ROW(mallocn),
	MI_ROW(malloc_small),
	MI_ROW(strdup),
	MI_ROW(strndup),
	MI_ROW(malloc_aligned),
	MI_ROW(malloc_aligned_at),
	MI_ROW(zalloc_aligned),
	MI_ROW(zalloc_aligned_at),
	MI_ROW(calloc_aligned),
	MI_ROW(calloc_aligned_at),
	MI_ROW(realloc),
	MI_ROW(reallocn),
	MI_ROW(reallocf),
	MI_ROW(rezalloc),
	MI_ROW(recalloc),
	MI_ROW(realloc_aligned),
	MI_ROW(realloc_aligned_at),
	MI_ROW(rezalloc_aligned),
	MI_ROW(rezalloc_aligned_at),
	MI_ROW(recalloc_aligned),
	MI_ROW(recalloc_aligned_at),
	MI_ROW(realpath),
	WRAP_ROW(mi_zalloc_small),
	WRAP_ROW(mi_memalign),
	WRAP_ROW(mi_aligned_alloc),
	WRAP_ROW(mi_valloc),
	WRAP_ROW(mi_pvalloc),
	WRAP_ROW(mi_mbsdup),
	WRAP_ROW(mi_wcsdup),
	WRAP_ROW(mi_posix_memalign),
	WRAP_ROW(mi_dupenv_s),
	WRAP_ROW(mi_expand),
	WRAP_ROW(mi__expand),
	WRAP_ROW(mi_reallocarray),
	WRAP_ROW(mi_reallocarr),
	WRAP_ROW(mi_aligned_recalloc),
	WRAP_ROW(mi_aligned_offset_recalloc),
	WRAP_ROW(mi_new_realloc),
	WRAP_ROW(mi_new_reallocn),
	WRAP_ROW(mi_free),
	WRAP_ROW(mi_free_size),
	WRAP_ROW(mi_free_size_aligned),
	WRAP_ROW(mi_free_aligned),
	WRAP_ROW(mi_cfree),
	WRAP_ROW(mi_new),
	WRAP_ROW(mi_new_aligned),
	WRAP_ROW(mi_new_nothrow),
	WRAP_ROW(mi_new_aligned_nothrow),
	WRAP_ROW(mi_new_n),
	WRAP_ROW(mi_heap_alloc_new),
	WRAP_ROW(mi_heap_alloc_new_n),
	WRAP_ROW(mi_heap_destroy),
	{ "mi_is_in_heap_region", NULL, (void **)&hooks_mi_owns },
	{ "mi_heap_visit_blocks", NULL, (void **)&hooks_mi_visit },
	{ "mi_heap_get_backing", NULL, (void **)&hooks_mi_backing },
};

const struct wrap_table hooks_mi = {
	.rows = hooks_mi_rows,
	.count = WRAP_COUNT(hooks_mi_rows),
	.where = WRAP_ALLOCATORS,
	.key = "mi_malloc",
};
