/*
 * hooks_dlopen.h: hooks of dlopen and related functions. They are entered
 * through stubs.S (arch/) and left by a tail jump, because the loader resolves
 * names by the identity of the caller.
 */
#ifndef GNOMON_HOOKS_DLOPEN_H
#define GNOMON_HOOKS_DLOPEN_H

#include <stdint.h>

#include "preload/interpose/real.h"

/*
 * Records that the loader's list is about to change; returns the real function,
 * NULL if there is none. name: the requested file, not used for dlclose. slot:
 * address of the return address; fp: the caller's frame pointer; flags:
 * dlopen's argument.
 */
void *hooks_dlopen_note(enum real_slot what, const char *name,
			const uintptr_t *slot, uintptr_t fp, int flags);

#endif
