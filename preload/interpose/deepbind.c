/*
 * deepbind.c: see deepbind.h.
 *
 * Dropping the flag would change which symbols a library gets. So the flag
 * stays, and the C library's symbol table, in this process's memory alone,
 * leads to our hooks: what is bound from then on finds us, in whatever order
 * it looks. The pages become private copies, and are read-only again
 * afterwards. It is done once, at the first dlopen that gives a reason.
 *
 *	libc's .dynsym      malloc  ─▶ __libc_malloc's code
 *	                            ─▶ our hook ─▶ real.malloc, as ever
 *
 * I1: all or nothing, and only where every function that the hooks call on is
 *     the one this table names. So behind our hooks there is nobody between us
 *     and the C library who could ask for the next malloc, and get ours again.
 * I2: our own look-ups of these names were over before (real_resolve).
 */
#include "preload/interpose/deepbind.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/interpose/real.h"

#define DEEPBIND_PAGE 4096

/* Our hooks, which no header of ours declares. */
#define CORE(result, name, parameters, arguments) result name parameters;
#include "preload/interpose/hooked.def"

static const struct deepbind_row {
	const char *name;
	void *hook;
	size_t real;	/* where struct real keeps the real one */
} deepbind_rows[] = {
#define CORE(result, name, parameters, arguments) \
	{ #name, name, offsetof(struct real, name) },
#define OURS(result, name, parameters, arguments)
#include "preload/interpose/hooked.def"
};
#define DEEPBIND_COUNT (sizeof(deepbind_rows) / sizeof(deepbind_rows[0]))

static uint32_t deepbind_done;	/* the first who sets it does it */

static uintptr_t deepbind_real(const struct deepbind_row *row)
{
	const struct real *table = real_below ? real_below : &real;

	return *(const uintptr_t *)((const char *)table + row->real);
}

static bool deepbind_protect(uintptr_t from, uintptr_t to, int prot)
{
	return !sys_failed(arch_syscall3(__NR_mprotect, from, to - from,
					 prot));
}

/* What image provides malloc is there since the start, and stays. */
static void deepbind_change(const struct link_map *map)
{
	ElfW(Sym) *entries[DEEPBIND_COUNT];
	uintptr_t from = UINTPTR_MAX, to = 0;
	unsigned i;

	for (i = 0; i < DEEPBIND_COUNT; i++) {
		const struct deepbind_row *row = &deepbind_rows[i];

		entries[i] = real_entry(map, row->name);
		if (!entries[i] || map->l_addr + entries[i]->st_value !=
					   deepbind_real(row))
			return;		/* I1 */
		from = base_min(from, (uintptr_t)entries[i]);
		to = base_max(to, (uintptr_t)(entries[i] + 1));
	}
	from &= -(uintptr_t)DEEPBIND_PAGE;
	if (!deepbind_protect(from, to, PROT_READ | PROT_WRITE))
		return;
	for (i = 0; i < DEEPBIND_COUNT; i++)
		__atomic_store_n(&entries[i]->st_value,
				 (uintptr_t)deepbind_rows[i].hook -
					 map->l_addr,
				 __ATOMIC_RELAXED);
	/* if that fails they stay writable, and as good */
	deepbind_protect(from, to, PROT_READ);
}

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
	if (!real_resolve() || !real_provider ||
	    __atomic_exchange_n(&deepbind_done, 1, __ATOMIC_RELAXED))
		return;
	deepbind_change(real_provider);
}
