/*
 * gu_entries.S: entry points of the functions of gnomon/unwind.h that need
 * their caller's registers, on architectures where C code cannot get them
 * (arch/.../entry.h).
 */
#include "entry.h"

	.text
	entry	gu_capture, , 1
	entry	gu_capture_ucontext, , 1
	entry	gu_walk, , 1
	entry	gu_thread_describe, , 1
	.section .note.GNU-stack,"",%progbits
