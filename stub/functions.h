/*
 * functions.h: tables of the functions of gnomon/gnomon.h, which libgnomon.so
 * exports. A stub that overrides the real functions, because it is part of the
 * program, finds them by these tables (stub.h).
 *
 * I1  Functions are only appended: programs contain stubs that know the first
 *     ones. `size` says how many a table has.
 */
#ifndef GNOMON_FUNCTIONS_H
#define GNOMON_FUNCTIONS_H

/* Only for callers: else functions that pass their argument on cause
 * warnings. */
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

/* Default visibility also if the includer compiles with another. */
#define GNOMON_TABLE __attribute__((visibility("default")))
GNOMON_TABLE extern const struct gnomon_functions gnomon_functions;
GNOMON_TABLE extern const struct gnomon_numbers gnomon_numbers;

#endif
