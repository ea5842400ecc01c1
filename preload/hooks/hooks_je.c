/*
 * hooks_je.c: jemalloc's functions beyond the C library's. What neither makes
 * nor ends a block (nallocx, sallocx, mallctl…, malloc_stats_print) is not
 * touched: it is the real one that the program finds.
 *
 * Not seen: arenas whose blocks are thrown away together (mallctl
 * "arena.<i>.reset", "arena.<i>.destroy").
 */
#include "preload/hooks/hooks_wrap.h"

static size_t (*hooks_je_nallocx)(size_t size, int flags);

WRAP_ALLOC(mallocx, (size_t size, int flags), (size, flags), size)
WRAP_REALLOC(rallocx, (void *block, size_t size, int flags),
	     (block, size, flags), block, size, GT_REALLOC_FAILED)
WRAP_FREE(dallocx, (void *block, int flags), (block, flags), block)
WRAP_FREE(sdallocx, (void *block, size_t size, int flags),
	  (block, size, flags), block)

/* Whether `usable` bytes are what was asked for, at least `size` and as good
 * as at most `most`. */
static bool hooks_je_fits(size_t usable, size_t size, size_t most, int flags)
{
	size_t class = hooks_je_nallocx ? hooks_je_nallocx(most, flags) : 0;

	return usable >= size && (!class || usable <= class);
}

/*
 * In place, to at least `size` bytes, if possible `extra` more; answers what
 * is usable then. If that is too little, or still too much, nothing changed.
 */
WRAP(size_t, xallocx, (void *block, size_t size, size_t extra, int flags))
{
	struct hooks_caller caller = HOOKS_CALLER;
	size_t most = extra < SIZE_MAX - size ? size + extra : SIZE_MAX;
	struct hooks_mark mark;
	size_t usable;

	if (wrap_inner(caller))
		return xallocx_real(block, size, extra, flags);
	hooks_end(GT_REALLOC_BEGIN, block, caller);
	mark = wrap_enter(caller);
	usable = xallocx_real(block, size, extra, flags);
	hooks_leave_real(&mark);
	if (hooks_je_fits(usable, size, most, flags))
		wrap_block(GT_REALLOC_DONE, block, base_min(usable, most),
			   caller);
	else
		hooks_address(GT_REALLOC_FAILED, block, caller.ra, caller.sp);
	return usable;
}

GUARD_EXPANDED(xallocx, (void *block, size_t size, size_t extra, int flags),
	       (block, size, extra, flags), block)

static const struct appear hooks_je_rows[] = {
	WRAP_ROW(mallocx),
	WRAP_ROW(rallocx),
	WRAP_ROW(xallocx),
	WRAP_ROW(dallocx),
	WRAP_ROW(sdallocx),
	{ "nallocx", NULL, (void **)&hooks_je_nallocx },
};

const struct wrap_table hooks_je = {
	.rows = hooks_je_rows,
	.count = WRAP_COUNT(hooks_je_rows),
	.where = WRAP_ALLOCATORS,
	.key = "sdallocx",
};
