/*
 * hooks_dlopen.c: see the header. The event precedes the call: the recorder
 * finds the new mappings later, and attributes them to this stack.
 *
 * With RTLD_DEEPBIND (PHP opens its extensions so) a library and its
 * dependencies look up symbols in themselves before the program, and so in the
 * C library before us. dlsym on the C library's own handle (as ctypes makes
 * one) never reaches us. Their blocks would not be recorded, and blocks of
 * others that they free would seem to live forever. Without the flag a library
 * would get other symbols. So the flag stays, and the C library's symbol table
 * is changed, in this process's memory only, to lead to our hooks: later
 * bindings find us, in any lookup order. It is done once, at the first dlopen
 * that needs it.
 *
 *	libc's .dynsym      malloc  ─▶ __libc_malloc's code
 *	                            ─▶ our hook ─▶ real.malloc, as ever
 *
 * Any thread at any time, also before this library is relocated.
 */
#include "preload/hooks/hooks_dlopen.h"

#include <dlfcn.h>
#include <string.h>

#include "preload/base/text.h"
#include "preload/hooks/hooks.h"
#include "unwind/image/image.h"

#define HOOKS_DLOPEN_NAME_MAX 4096	/* a longer one cannot be opened */

/*
 * FNV-1a (Fowler, Noll, Vo) of a file's name without its folder, up to ".so":
 * the mapped file may have a longer version number than the requested one.
 */
static uint64_t hooks_dlopen_hash(const char *path)
{
	const uint64_t basis = UINT64_C(0xcbf29ce484222325);
	uint64_t hash = basis;
	unsigned i;

	for (i = 0; path[i] && i < HOOKS_DLOPEN_NAME_MAX; i++) {
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

static bool hooks_dlopen_is_libc(const char *file)
{
	return file &&
	       strncmp(text_base_name(file, strlen(file)), "libc.so", 7) == 0;
}

/* Redirects the C library's symbols to our hooks if this dlopen bypasses us.
 * Our own lookups of these names must be done before (real_resolve). */
static void hooks_dlopen_skip_us(const char *file, int flags)
{
	static uint32_t done;	/* the thread that sets it does it */

	if ((flags & RTLD_DEEPBIND || hooks_dlopen_is_libc(file)) &&
	    real_resolve() && !__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		hooks_in_provider();
}

void *hooks_dlopen_note(enum real_slot what, const char *name,
			const uintptr_t *slot, uintptr_t fp, int flags)
{
	const struct hooks_caller caller = {
		*slot, (uintptr_t)slot - ARCH_RA_OFFSET, fp
	};
	uint64_t args[GT_EXTRA_ARGS] = { 0, (uint32_t)flags };

	atomic_fetch_add_explicit(&image_generation, 1,
				  memory_order_seq_cst);
	if (what == REAL_dlopen)
		hooks_dlopen_skip_us(name, flags);
	if (!real.malloc && !real_resolve())
		return NULL;
	if (producer_options.number[OPTION_MAPS] == OPTION_MAPS_ON &&
	    (name || what == REAL_dlclose)) {
		if (name)
			args[0] = hooks_dlopen_hash(name);
		hooks_extra(what == REAL_dlclose ? GT_EXTRA_DLCLOSE :
						    GT_EXTRA_DLOPEN,
			    0, 0, args, caller);
		recorder_hint_maps();
	}
	return real_slots[what];
}
