/*
 * gu_entries.S: what the program enters in the place of those functions of
 * gnomon/unwind.h that ask for their caller, where they cannot tell it without
 * (arch/.../entry.h).
 */
#include "entry.h"

	.text
	entry	gu_capture, , 1
	entry	gu_capture_ucontext, , 1
	entry	gu_walk, , 1
	entry	gu_thread_describe, , 1
	.section .note.GNU-stack,"",%progbits
