/*
 * deepbind.c: see deepbind.h.
 *
 * Dropping the flag would change which symbols a library gets. So the flag
 * stays, and the C library's symbol table, in this process's memory alone,
 * leads to our hooks (appear_in_table): what is bound from then on finds us, in
 * whatever order it looks. It is done once, at the first dlopen that gives a
 * reason.
 *
 *	libc's .dynsym      malloc  ─▶ __libc_malloc's code
 *	                            ─▶ our hook ─▶ real.malloc, as ever
 *
 * I1: all or nothing, and only where every function that the hooks call on is
 *     the one this table names. So behind our hooks there is nobody between us
 *     and the C library who could ask for the next malloc, and get ours again.
 * I2: our own look-ups of these names were over before (real_resolve).
 */
#include "preload/hooks/deepbind.h"

#include <dlfcn.h>
#include <string.h>

#include "preload/hooks/hooks.h"

static uint32_t deepbind_done;	/* the first who sets it does it */

static bool deepbind_is_libc(const char *file)
{
	const char *name = file;

	for (; file && *file; file++)
		if (*file == '/')
			name = file + 1;
	return name && strncmp(name, "libc.so", 7) == 0;
}

void deepbind_note(const char *file, int flags)
{
	if (!(flags & RTLD_DEEPBIND) && !deepbind_is_libc(file))
		return;
	if (real_resolve() &&
	    !__atomic_exchange_n(&deepbind_done, 1, __ATOMIC_RELAXED))
		hooks_in_provider();	/* I1 */
}
