/*
 * unwinder_entries.S: the entry of the capturing hook, for architectures where
 * the hook cannot find its caller without one (arch/.../entry.h).
 */
#include "entry.h"

	.text
	entry	unwinder_gnomon
	.section .note.GNU-stack,"",%progbits
