/*
 * deepbind.c: see deepbind.h.
 *
 * Dropping the flag would change which symbols a library gets. So the flag
 * stays, and the C library's symbol table, in this process's memory alone,
 * leads to our hooks: what is bound from then on finds us, in whatever order
 * it looks. (appear_in_table). It is done once, at the first dlopen that gives a reason.
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
#include <stddef.h>
#include <string.h>

#include "preload/interpose/appear.h"
#include "preload/interpose/real.h"

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

/* What image provides malloc is there since the start, and stays. */
static void deepbind_change(void)
{
	const struct real *below = real_below ? real_below : &real;
	struct appear rows[DEEPBIND_COUNT];
	unsigned i;

	for (i = 0; i < DEEPBIND_COUNT; i++) {
		const struct deepbind_row *row = &deepbind_rows[i];

		rows[i] = (struct appear){
			row->name, row->hook,
			(void **)((uintptr_t)below + row->real)
		};
	}
	appear_in_table(&real_provider, rows, DEEPBIND_COUNT);	/* I1 */
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
	if (real_resolve() &&
	    !__atomic_exchange_n(&deepbind_done, 1, __ATOMIC_RELAXED))
		deepbind_change();
}
