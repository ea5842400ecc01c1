/*
 * functions.h: the functions of gnomon/gnomon.h as tables, which libgnomon.so
 * exports. By them a stub that stands before the real functions, because it is
 * part of the program, finds them (stub.h).
 *
 * I1: only ever added to, at the end: programs hold stubs that know the
 *     beginning. `size` says how much there is.
 */
#ifndef GNOMON_FUNCTIONS_H
#define GNOMON_FUNCTIONS_H

/* For callers: a function that hands its argument on would be told of. */
#ifndef GNOMON_ADDRESS
#define GNOMON_ADDRESS(n)
#endif
#include "library/gnomon/gnomon.h"

#include "stub/functions.def"

#define GNOMON_POINTER(type, name, parameters, arguments, stub) \
	type (*name) parameters;
struct gnomon_functions {
	size_t size;		/* of this struct */
	GNOMON_FUNCTIONS(GNOMON_POINTER)
};
struct gnomon_numbers {
	size_t size;		/* of this struct */
	GNOMON_NUMBERS(GNOMON_POINTER)
};
#undef GNOMON_POINTER

/* Of others, whatever the visibility of what is ours. */
#define GNOMON_TABLE __attribute__((visibility("default")))
GNOMON_TABLE extern const struct gnomon_functions gnomon_functions;
GNOMON_TABLE extern const struct gnomon_numbers gnomon_numbers;

#endif
