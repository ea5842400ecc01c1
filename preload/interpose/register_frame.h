/*
 * register_frame.h: unwind tables that the program registers with the C runtime
 * at run time (__register_frame). The entries in stubs.S (arch/) call
 * register_frame_note and jump on.
 */
#ifndef GNOMON_REGISTER_FRAME_H
#define GNOMON_REGISTER_FRAME_H

#include <stdint.h>

#include "preload/base/base.h"

/* Arguments and purpose of an entry. */
enum register_frame_how {
	REGISTER_FRAME_BASES = 1,	/* with text and data */
	REGISTER_FRAME_LIST = 2,	/* an array of sections, ended by NULL */
	REGISTER_FRAME_DROP = 4	/* deregisters */
};

/*
 * Called with the entry's own arguments, except the second: the index of its
 * row among the REGISTERS rows of hooked.def. Returns the function behind ours,
 * NULL if there is none. Any thread, also before this library's constructor.
 */
BASE_HIDDEN void *register_frame_note(uintptr_t begin, unsigned which,
				      uintptr_t text, uintptr_t data);

#endif
