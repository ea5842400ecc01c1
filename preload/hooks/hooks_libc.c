/*
 * hooks_libc.c: ways into the C library's allocator by other names, which
 * only some C libraries and allocators have.
 *
 * glibc's own names (__libc_malloc …) are what programs with an allocator in
 * front of it, or beside it, call to get at it; other allocators define them
 * too. One that calls them from its own code while it is called itself is not
 * seen here (wrap_inner): its caller was.
 */
#include "preload/hooks/hooks_wrap.h"

#define KIN_FAILED(size) ((size) ? GT_REALLOC_FAILED : GT_REALLOC_FREED)

/* C23: the same as free, with what the caller promises. */
WRAP_FREE(free_sized, (void *block, size_t size), (block, size), block)
WRAP_FREE(free_aligned_sized, (void *block, size_t alignment, size_t size),
	  (block, alignment, size), block)
WRAP_FREE(cfree, (void *block), (block), block)
WRAP_FREE(vfree, (void *block), (block), block)
WRAP_REALLOC(reallocf, (void *block, size_t size), (block, size), block, size,
	     GT_REALLOC_FREED)
WRAP_ALLOC(_aligned_malloc, (size_t alignment, size_t size),
	   (alignment, size), size)

WRAP(int, reallocarr, (void *where, size_t count, size_t size))
{
	return wrap_reallocarr(reallocarr_real, where, count, size,
			       HOOKS_CALLER);
}

WRAP_ALLOC(__libc_malloc, (size_t size), (size), size)
WRAP_ALLOC(__libc_calloc, (size_t count, size_t size), (count, size),
	   count * size)
WRAP_ALLOC(__libc_memalign, (size_t alignment, size_t size),
	   (alignment, size), size)
WRAP_ALLOC(__libc_valloc, (size_t size), (size), size)
WRAP_ALLOC(__libc_pvalloc, (size_t size), (size), size)
WRAP_INTO(__posix_memalign, (void **block, size_t alignment, size_t size),
	  (block, alignment, size), block, size)
WRAP_REALLOC(__libc_realloc, (void *block, size_t size), (block, size), block,
	     size, KIN_FAILED(size))
WRAP_FREE(__libc_free, (void *block), (block), block)
WRAP_FREE(__libc_cfree, (void *block), (block), block)

static const struct appear hooks_kin_rows[] = {
	WRAP_ROW(free_sized),
	WRAP_ROW(free_aligned_sized),
	WRAP_ROW(cfree),
	WRAP_ROW(vfree),
	WRAP_ROW(reallocf),
	WRAP_ROW(reallocarr),
	WRAP_ROW(_aligned_malloc),
};

const struct wrap_table hooks_kin = {
	.rows = hooks_kin_rows,
	.count = WRAP_COUNT(hooks_kin_rows),
	.where = WRAP_WITH_MALLOC,
};

static const struct appear hooks_libc_rows[] = {
	WRAP_ROW(__libc_malloc),
	WRAP_ROW(__libc_calloc),
	WRAP_ROW(__libc_memalign),
	WRAP_ROW(__libc_valloc),
	WRAP_ROW(__libc_pvalloc),
	WRAP_ROW(__posix_memalign),
	WRAP_ROW(__libc_realloc),
	WRAP_ROW(__libc_free),
	WRAP_ROW(__libc_cfree),
};

const struct wrap_table hooks_libc = {
	.rows = hooks_libc_rows,
	.count = WRAP_COUNT(hooks_libc_rows),
	.where = WRAP_ANYBODYS,
	.key = "__libc_malloc",
};
