/*
 * hooks_thread.c: see hooks_thread.h.
 *
 * A name is recorded after the C library has accepted it: then it is valid and
 * readable. A thread can also set its name by prctl and syscall
 * (hooks_identity.c) and by files in /proc (thread_list.c).
 *
 * Any thread of the target.
 */
#include "preload/hooks/hooks_thread.h"

#include <errno.h>
#include <string.h>

#include "arch.h"

int pthread_setname_np(uintptr_t thread, const char *name)
	ARCH_ENTRY(pthread_setname_np);

void hooks_thread_named(uintptr_t thread, const char *name,
			struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS] = { 0 };
	unsigned i;

	/* in a trace's byte order, little-endian */
	for (i = 0; i < GT_THREAD_NAME_MAX - 1 && name[i]; i++)
		args[i / 8] |= (uint64_t)(unsigned char)name[i] << 8 * (i % 8);
	if (thread == real_thread())
		thread = 0;
	hooks_extra(GT_EXTRA_NAME, thread, 0, args, caller);
}

/* pthread_t is a number in both C libraries. */
HOOK int pthread_setname_np(uintptr_t thread, const char *name)
{
	/* the function may be in a library that was loaded late */
	__typeof__(pthread_setname_np) *function =
		REAL_LATE(pthread_setname_np);
	int err;

	if (!function)
		return ENOSYS;
	err = function(thread, name);
	if (!err)
		hooks_thread_named(thread, name, HOOKS_CALLER);
	return err;
}
