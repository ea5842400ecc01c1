/*
 * entries.S: what the program enters in the place of the hooks, and of the
 * functions of the API, where an architecture's hooks cannot tell their caller
 * without (arch/.../entry.h).
 */
#include "entry.h"
#include "stub/functions.def"

#define CORE(result, name, parameters, arguments) entry name, hooks_our_##name;
/* Those of the C library's allocator have few arguments; of others, as of all
 * that follow, some may be in the stack. */
#define CAPTURED(name) entry name, , 1;
#define WRAPPED(result, name, parameters) entry name##_wrap, , 1;
#define FUNCTION_OF_API(type, name, parameters, arguments, stub) \
	entry gnomon_##name, api_our_##name, 1;

	.text
#include "preload/interpose/hooked.def"
	GNOMON_FUNCTIONS(FUNCTION_OF_API)
	GNOMON_NUMBERS(FUNCTION_OF_API)
	.section .note.GNU-stack,"",%progbits
