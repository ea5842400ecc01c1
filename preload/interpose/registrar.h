/*
 * registrar.h: unwind tables that the program registers with the C runtime at
 * run time. The entries in arch/stubs.S note them and jump on.
 */
#ifndef GNOMON_REGISTRAR_H
#define GNOMON_REGISTRAR_H

#include <stdint.h>

#include "preload/base/base.h"

/* The entries, by the number that stubs.S passes. */
enum registrar_what {
	REGISTRAR_FRAME,
	REGISTRAR_FRAME_INFO,
	REGISTRAR_FRAME_INFO_BASES,
	REGISTRAR_TABLE,
	REGISTRAR_INFO_TABLE,
	REGISTRAR_INFO_TABLE_BASES,
	REGISTRAR_DROP,
	REGISTRAR_DROP_INFO,
	REGISTRAR_DROP_INFO_BASES,
	REGISTRAR_COUNT
};

/*
 * Called with the entry's own arguments but the second. Returns the function
 * behind ours, NULL if there is none. Any thread, also before this library's
 * constructor.
 */
BASE_HIDDEN void *registrar_note(uintptr_t begin, enum registrar_what what,
				 uintptr_t text, uintptr_t data);

#endif
