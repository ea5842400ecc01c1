/*
 * gu_entries.S: what the program enters in the place of those functions of
 * gnomon/unwind.h that ask for their caller, where they cannot tell it without
 * (arch/.../entry.h).
 */
#include "entry.h"

	.text
	entry	gu_capture
	entry	gu_capture_ucontext
	entry	gu_walk
	entry	gu_thread_describe
	.section .note.GNU-stack,"",%progbits
