/*
 * hooks_reentry.c: wrappers between the hooks and an allocator whose functions
 * may call the hooks, through the loader or by a tail jump.
 *
 *	malloc ─ hook ─▶ real.malloc = within_malloc ─ mark ─▶ plain.malloc
 *	                                                  memalign ─ hook: inner
 *	       ◀─ block, recorded once ────────── mark back ◀──────┘
 *
 * The hooks are not aware of it: they call through the table `real`, in which
 * this file replaces the functions. So with the GNU C library's functions,
 * which never call hooks, nothing changes.
 *
 * hooks_reentered decides which calls are inner: the mark says that a real
 * function runs, the return address whether the allocator calls.
 *
 * Any thread at any time after the constructor, also signal handlers; errno is
 * the allocator's.
 *
 * I1: a real function is called, never jumped to: a function that it tail-calls
 * then seems to be called from here, and so is known to be inner.
 */
#include "preload/hooks/hooks.h"

static struct real plain;

/* For use in a function of this file itself. */
#define REENTRY_ENTER                                                  \
	hooks_enter_real((uintptr_t)__builtin_dwarf_cfa(),            \
			 (uintptr_t)__builtin_return_address(0), 0)

#define CORE(result, name, parameters, arguments)                     \
	static result within_##name parameters                        \
	{                                                             \
		const struct hooks_mark mark                          \
			__attribute__((cleanup(hooks_leave_real),     \
				       unused)) = REENTRY_ENTER;       \
                                                                      \
		return plain.name arguments;                          \
	}
#include "preload/interpose/hooked.def"

void hooks_reentry(void)
{
	if (!real.reenters)
		return;
	plain = real;
	real_below = &plain;
#define CORE(result, name, parameters, arguments) real.name = within_##name;
#include "preload/interpose/hooked.def"
	real.reallocarray = plain.reallocarray ? within_reallocarray : NULL;
}
