/*
 * loads.h: what becomes of dlopen and its kin before the loader sees them.
 * They are entered through arch/stubs.S and left by a tail jump, as their
 * caller's identity decides what they find.
 */
#ifndef GNOMON_LOADS_H
#define GNOMON_LOADS_H

#include <stdint.h>

#include "preload/base/base.h"

/* In the order that stubs.S counts them. */
enum loads_what { LOADS_OPEN, LOADS_OPEN_IN, LOADS_CLOSE };

/*
 * The loader's list is about to change: records the call and answers the real
 * function, NULL if there is none. name: the file asked for, not for CLOSE.
 * slot: where the return address lies; fp: the caller's frame pointer; flags:
 * as dlopen was given them.
 */
void *loads_note(enum loads_what what, const char *name,
		 const uintptr_t *slot, uintptr_t fp, int flags);

#endif
