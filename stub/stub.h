/*
 * stub.h: the functions of libgnomon-stub.so and .a: what a program is linked
 * with.
 *
 * Where libgnomon.so is preloaded it stands before libgnomon-stub.so, and none
 * of this runs. Not so for a stub that is part of the program or of a plugin,
 * nor where a library looks at home first (RTLD_DEEPBIND): so each function
 * jumps on to the real one if there is one. The loader has told, by a weak
 * reference: no question at run time, which could wait or fail.
 *
 * I1: position-independent, and called by a jump: a weak reference is only kept
 *     for the loader where it goes through the table of addresses, and stacks
 *     shall begin with who calls us.
 */
#ifndef GNOMON_STUB_H
#define GNOMON_STUB_H

#include "stub/functions.h"

extern const struct gnomon_functions gnomon_functions __attribute__((weak));
extern const struct gnomon_numbers gnomon_numbers __attribute__((weak));

#define STUB_OF(table, type, name, parameters, stub, ...)                    \
	type gnomon_##name parameters                                        \
	{                                                                    \
		if (&table && table.size > offsetof(struct table, name))     \
			return table.name __VA_ARGS__;                       \
		return stub;                                                 \
	}

#endif
