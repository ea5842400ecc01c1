/*
 * loads.h: what becomes of dlopen and its kin before the loader sees them.
 * They are entered through arch/stubs.S and left by a tail jump, as their
 * caller's identity decides what they find.
 */
#ifndef GNOMON_LOADS_H
#define GNOMON_LOADS_H

#include <stdint.h>

#include "preload/interpose/real.h"

/*
 * The loader's list is about to change: records the call and answers the real
 * function, NULL if there is none. name: the file asked for, not for dlclose.
 * slot: where the return address lies; fp: the caller's frame pointer; flags:
 * as dlopen was given them.
 */
void *loads_note(enum real_slot what, const char *name,
		 const uintptr_t *slot, uintptr_t fp, int flags);

#endif
