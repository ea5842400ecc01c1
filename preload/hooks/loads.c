/*
 * loads.c: see the header. The event comes before the call: what the loader
 * maps, the writer finds later, and this stack goes with it.
 *
 * dlopen with RTLD_DEEPBIND (PHP opens its extensions so) lets a library and
 * what it needs look in themselves before the program, and so in the C
 * library before us; dlsym in the C library's own handle (as ctypes makes one)
 * never gets to us. Their blocks would not be seen, and blocks of others that
 * they free would seem to live for ever. Dropping the flag would change which
 * symbols a library gets. So the flag stays, and the C library's symbol table,
 * in this process's memory alone, leads to our hooks: what is bound from then
 * on finds us, in whatever order it looks. It is done once, at the first dlopen
 * that gives a reason.
 *
 *	libc's .dynsym      malloc  ─▶ __libc_malloc's code
 *	                            ─▶ our hook ─▶ real.malloc, as ever
 *
 * Any thread at any time, also before this library is relocated.
 */
#include "preload/hooks/loads.h"

#include <dlfcn.h>
#include <string.h>

#include "preload/base/text.h"
#include "preload/hooks/hooks.h"
#include "unwind/capture.h"

#define LOADS_NAME_MAX 4096	/* a longer one cannot be opened */

/*
 * FNV-1a (Fowler, Noll, Vo) of a file's name without its folder, up to ".so":
 * what is mapped may have a longer version number than what was asked for.
 */
static uint64_t loads_hash(const char *path)
{
	const uint64_t basis = UINT64_C(0xcbf29ce484222325);
	uint64_t hash = basis;
	unsigned i;

	for (i = 0; path[i] && i < LOADS_NAME_MAX; i++) {
		if (path[i] == '/')
			hash = basis;
		else if (path[i] == '.' && path[i + 1] == 's' &&
			 path[i + 2] == 'o')
			break;
		else
			hash = (hash ^ (uint8_t)path[i]) *
			       UINT64_C(0x100000001b3);
	}
	return hash;
}

static bool loads_is_libc(const char *file)
{
	return file &&
	       strncmp(text_base_name(file, strlen(file)), "libc.so", 7) == 0;
}

/* Is to find ours before the C library's. Our own look-ups of these names are
 * over then (real_resolve). */
static void loads_look_past_us(const char *file, int flags)
{
	static uint32_t done;	/* the first who sets it does it */

	if ((flags & RTLD_DEEPBIND || loads_is_libc(file)) && real_resolve() &&
	    !__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		hooks_in_provider();
}

void *loads_note(enum real_slot what, const char *name,
		 const uintptr_t *slot, uintptr_t fp, int flags)
{
	const struct hooks_caller caller = {
		*slot, (uintptr_t)slot - ARCH_RA_OFFSET, fp
	};
	uint64_t args[GT_EXTRA_ARGS] = { 0, (uint32_t)flags };

	atomic_fetch_add_explicit(&capture_generation, 1,
				  memory_order_seq_cst);
	if (what == REAL_dlopen)
		loads_look_past_us(name, flags);
	if (!real.malloc && !real_resolve())
		return NULL;
	if (recorder_options.number[OPTION_MAPS] == OPTION_MAPS_ON &&
	    (name || what == REAL_dlclose)) {
		if (name)
			args[0] = loads_hash(name);
		hooks_extra(what == REAL_dlclose ? GT_EXTRA_DLCLOSE :
						    GT_EXTRA_DLOPEN,
			    0, 0, args, caller);
		recorder_hint_maps();
	}
	return real_slots[what];
}
