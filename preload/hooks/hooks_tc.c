/*
 * hooks_tc.c: tcmalloc's functions beyond the C library's (gperftools).
 *
 * What only tells or tunes (tc_malloc_size, tc_nallocx, tc_mallopt,
 * tc_set_new_mode, MallocExtension_*, MallocHook_*) is not touched.
 */
#include "preload/hooks/hooks_wrap.h"

#define TC_NEW(name, parameters, b, c) \
	WRAP_THROW(name, false, parameters, size, b, c, size)
#define TC_DELETE(name, parameters, arguments) \
	WRAP_FREE(name, parameters, arguments, block)

WRAP_ALLOC(tc_malloc, (size_t size), (size), size)
WRAP_ALLOC(tc_malloc_skip_new_handler, (size_t size), (size), size)
WRAP_ALLOC(tc_calloc, (size_t count, size_t size), (count, size),
	   count * size)
WRAP_ALLOC(tc_memalign, (size_t alignment, size_t size), (alignment, size),
	   size)
WRAP_ALLOC(tc_valloc, (size_t size), (size), size)
WRAP_ALLOC(tc_pvalloc, (size_t size), (size), size)
WRAP_INTO(tc_posix_memalign, (void **block, size_t alignment, size_t size),
	  (block, alignment, size), block, size)
WRAP_REALLOC(tc_realloc, (void *block, size_t size), (block, size), block,
	     size, size ? GT_REALLOC_FAILED : GT_REALLOC_FREED)
WRAP_FREE(tc_free, (void *block), (block), block)
WRAP_FREE(tc_cfree, (void *block), (block), block)
WRAP_FREE(tc_free_sized, (void *block, size_t size), (block, size), block)

TC_NEW(tc_new, (size_t size), 0, 0)
TC_NEW(tc_newarray, (size_t size), 0, 0)
TC_NEW(tc_new_nothrow, (size_t size, const void *tag), tag, 0)
TC_NEW(tc_newarray_nothrow, (size_t size, const void *tag), tag, 0)
TC_NEW(tc_new_aligned, (size_t size, size_t alignment), alignment, 0)
TC_NEW(tc_newarray_aligned, (size_t size, size_t alignment), alignment, 0)
TC_NEW(tc_new_aligned_nothrow,
       (size_t size, size_t alignment, const void *tag), alignment, tag)
TC_NEW(tc_newarray_aligned_nothrow,
       (size_t size, size_t alignment, const void *tag), alignment, tag)

TC_DELETE(tc_delete, (void *block), (block))
TC_DELETE(tc_deletearray, (void *block), (block))
TC_DELETE(tc_delete_sized, (void *block, size_t size), (block, size))
TC_DELETE(tc_deletearray_sized, (void *block, size_t size), (block, size))
TC_DELETE(tc_delete_nothrow, (void *block, const void *tag), (block, tag))
TC_DELETE(tc_deletearray_nothrow, (void *block, const void *tag),
	  (block, tag))
TC_DELETE(tc_delete_aligned, (void *block, size_t alignment),
	  (block, alignment))
TC_DELETE(tc_deletearray_aligned, (void *block, size_t alignment),
	  (block, alignment))
TC_DELETE(tc_delete_sized_aligned,
	  (void *block, size_t size, size_t alignment),
	  (block, size, alignment))
TC_DELETE(tc_deletearray_sized_aligned,
	  (void *block, size_t size, size_t alignment),
	  (block, size, alignment))
TC_DELETE(tc_delete_aligned_nothrow,
	  (void *block, size_t alignment, const void *tag),
	  (block, alignment, tag))
TC_DELETE(tc_deletearray_aligned_nothrow,
	  (void *block, size_t alignment, const void *tag),
	  (block, alignment, tag))

static const struct appear hooks_tc_rows[] = {
	WRAP_ROW(tc_malloc),
	WRAP_ROW(tc_malloc_skip_new_handler),
	WRAP_ROW(tc_calloc),
	WRAP_ROW(tc_memalign),
	WRAP_ROW(tc_valloc),
	WRAP_ROW(tc_pvalloc),
	WRAP_ROW(tc_posix_memalign),
	WRAP_ROW(tc_realloc),
	WRAP_ROW(tc_free),
	WRAP_ROW(tc_cfree),
	WRAP_ROW(tc_free_sized),
	WRAP_ROW(tc_new),
	WRAP_ROW(tc_newarray),
	WRAP_ROW(tc_new_nothrow),
	WRAP_ROW(tc_newarray_nothrow),
	WRAP_ROW(tc_new_aligned),
	WRAP_ROW(tc_newarray_aligned),
	WRAP_ROW(tc_new_aligned_nothrow),
	WRAP_ROW(tc_newarray_aligned_nothrow),
	WRAP_ROW(tc_delete),
	WRAP_ROW(tc_deletearray),
	WRAP_ROW(tc_delete_sized),
	WRAP_ROW(tc_deletearray_sized),
	WRAP_ROW(tc_delete_nothrow),
	WRAP_ROW(tc_deletearray_nothrow),
	WRAP_ROW(tc_delete_aligned),
	WRAP_ROW(tc_deletearray_aligned),
	WRAP_ROW(tc_delete_sized_aligned),
	WRAP_ROW(tc_deletearray_sized_aligned),
	WRAP_ROW(tc_delete_aligned_nothrow),
	WRAP_ROW(tc_deletearray_aligned_nothrow),
};

const struct wrap_table hooks_tc = {
	.rows = hooks_tc_rows,
	.count = WRAP_COUNT(hooks_tc_rows),
	.where = WRAP_ALLOCATORS,
	.key = "tc_malloc",
};
