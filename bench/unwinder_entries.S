/*
 * unwinder_entries.S: the entry of the hook that captures, where it cannot tell
 * its caller without one (arch/.../entry.h).
 */
#include "entry.h"

	.text
	entry	unwinder_gnomon
	.section .note.GNU-stack,"",%progbits
