/*
 * loads.c: see the header. The event comes before the call: what the loader
 * maps, the writer finds later, and this stack goes with it.
 *
 * Any thread at any time, also before this library is relocated.
 */
#include "preload/hooks/loads.h"

#include "preload/hooks/hooks.h"
#include "preload/hooks/deepbind.h"
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

void *loads_note(enum real_slot what, const char *name,
		 const uintptr_t *slot, uintptr_t fp, int flags)
{
	const struct hooks_caller caller = {
		*slot, (uintptr_t)(slot + 1), fp
	};
	uint64_t args[GT_EXTRA_ARGS] = { 0, (uint32_t)flags };

	atomic_fetch_add_explicit(&capture_generation, 1,
				  memory_order_seq_cst);
	if (what == REAL_dlopen)
		deepbind_note(name, flags);
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
