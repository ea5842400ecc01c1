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

#define CORE(result, name, parameters, arguments)                     \
	static result within_##name parameters                        \
	{                                                             \
		const struct hooks_mark mark                          \
			__attribute__((cleanup(hooks_leave_real),     \
				       unused)) = WITHIN_ENTER;       \
                                                                      \
		return plain.name arguments;                          \
	}
#include "preload/interpose/hooked.def"

void hooks_within(void)
{
	if (!real.reenters)
		return;
	plain = real;
	real_below = &plain;
#define CORE(result, name, parameters, arguments) real.name = within_##name;
#include "preload/interpose/hooked.def"
	real.reallocarray = plain.reallocarray ? within_reallocarray : NULL;
}
