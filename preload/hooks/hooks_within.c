/*
 * hooks_within.c: the functions that stand between the hooks and an allocator
 * that may come back to them, by a call through the loader or by a jump.
 *
 *	malloc ─ hook ─▶ real.malloc = within_malloc ─ mark ─▶ plain.malloc
 *	                                                  memalign ─ hook: inner
 *	       ◀─ block, recorded once ────────── mark back ◀──────┘
 *
 * The hooks do not know of it: they call through the table `real`, whose
 * functions are exchanged here. So with the GNU C library's functions, which do
 * not come back, nothing is different.
 *
 * What is inner is for hooks_reentered to say: the mark tells that a real
 * function runs, the caller whether it is the allocator that calls.
 *
 * Any thread at any time after the constructor, also signal handlers; errno is
 * the allocator's.
 *
 * I1: a real function is called, never jumped to: what it jumps on to is then
 *     called from here, and so known to be inner.
 */
#include "preload/hooks/hooks.h"

static struct real plain;

/* In a function of this file itself. */
#define WITHIN_ENTER                                                  \
	hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),            \
			 (uintptr_t)__builtin_return_address(0), 0)

#define WITHIN(result, name, parameters, arguments)                   \
	static result within_##name parameters                        \
	{                                                             \
		const struct hooks_mark mark = WITHIN_ENTER;          \
		result made = plain.name arguments;                   \
                                                                      \
		hooks_leave_real(&mark);                              \
		return made;                                          \
	}

WITHIN(void *, malloc, (size_t size), (size))
WITHIN(void *, calloc, (size_t count, size_t size), (count, size))
WITHIN(void *, realloc, (void *block, size_t size), (block, size))
WITHIN(void *, reallocarray, (void *block, size_t count, size_t size),
       (block, count, size))
WITHIN(int, posix_memalign, (void **block, size_t alignment, size_t size),
       (block, alignment, size))
WITHIN(void *, memalign, (size_t alignment, size_t size), (alignment, size))
WITHIN(void *, aligned_alloc, (size_t alignment, size_t size),
       (alignment, size))
WITHIN(void *, valloc, (size_t size), (size))
WITHIN(void *, pvalloc, (size_t size), (size))
WITHIN(size_t, malloc_usable_size, (void *block), (block))

static void within_free(void *block)
{
	const struct hooks_mark mark = WITHIN_ENTER;

	plain.free(block);
	hooks_leave_real(&mark);
}

void hooks_within(void)
{
	if (!real.reenters)
		return;
	plain = real;
	real_below = &plain;
	real.malloc = within_malloc;
	real.calloc = within_calloc;
	real.realloc = within_realloc;
	if (plain.reallocarray)
		real.reallocarray = within_reallocarray;
	real.free = within_free;
	real.posix_memalign = within_posix_memalign;
	real.memalign = within_memalign;
	real.aligned_alloc = within_aligned_alloc;
	real.valloc = within_valloc;
	real.pvalloc = within_pvalloc;
	real.malloc_usable_size = within_malloc_usable_size;
}
