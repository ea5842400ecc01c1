/*
 * registrar.h: unwind tables that the program registers with the C runtime at
 * run time. The entries in arch/stubs.S note them and jump on.
 */
#ifndef GNOMON_REGISTRAR_H
#define GNOMON_REGISTRAR_H

#include <stdint.h>

#include "preload/base/base.h"

/* What an entry is called with, and for. */
enum registrar_how {
	REGISTRAR_BASES = 1,	/* with text and data */
	REGISTRAR_LIST = 2,	/* an array of sections, ended by NULL */
	REGISTRAR_DROP = 4	/* takes one back */
};

/*
 * Called with the entry's own arguments but the second, which is the number of
 * its row among those of its kind. Returns the function
 * behind ours, NULL if there is none. Any thread, also before this library's
 * constructor.
 */
BASE_HIDDEN void *registrar_note(uintptr_t begin, unsigned which,
				 uintptr_t text, uintptr_t data);

#endif
