/*
 * registrar.h: unwind tables that the program registers with the C runtime at
 * run time (__register_frame). The entries in arch/stubs.S call registrar_note
 * and jump on.
 */
#ifndef GNOMON_REGISTRAR_H
#define GNOMON_REGISTRAR_H

#include <stdint.h>

#include "preload/base/base.h"

/* Arguments and purpose of an entry. */
enum registrar_how {
	REGISTRAR_BASES = 1,	/* with text and data */
	REGISTRAR_LIST = 2,	/* an array of sections, ended by NULL */
	REGISTRAR_DROP = 4	/* deregisters */
};

/*
 * Called with the entry's own arguments, except the second: the index of its
 * row among the registrar rows. Returns the function behind ours, NULL if there
 * is none. Any thread, also before this library's constructor.
 */
BASE_HIDDEN void *registrar_note(uintptr_t begin, unsigned which,
				 uintptr_t text, uintptr_t data);

#endif
