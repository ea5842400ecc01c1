/*
 * entries.S: entry points of the hooks and of the API's functions, on
 * architectures where C code cannot get its caller's registers
 * (arch/.../entry.h).
 */
#include "entry.h"
#include "stub/functions.def"

#define CORE(result, name, parameters, arguments) entry name, hooks_our_##name;
/* The C library's allocator functions have few arguments; the other functions
 * may have some on the stack. */
#define CAPTURED(name) entry name, , 1;
#define WRAPPED(result, name, parameters) entry name##_wrap, , 1;
#define FUNCTION_OF_API(type, name, parameters, arguments, stub) \
	entry gnomon_##name, api_our_##name, 1;

	.text
#include "preload/interpose/hooked.def"
	GNOMON_FUNCTIONS(FUNCTION_OF_API)
	GNOMON_NUMBERS(FUNCTION_OF_API)
	.section .note.GNU-stack,"",%progbits
