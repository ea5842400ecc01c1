/*
 * stub.h: implements libgnomon-stub.so and .a, which programs link.
 *
 * A preloaded libgnomon.so comes before libgnomon-stub.so in symbol lookup, so
 * no stub runs. The stub does run if it is linked into the program or a plugin,
 * or if a library looks up its own symbols first (RTLD_DEEPBIND). Each stub
 * therefore jumps to the real function if there is one. It finds it by a weak
 * reference that the loader resolves, not by a lookup at run time, which could
 * block or fail.
 *
 * I1  Position-independent, and calls by a jump. A weak reference is kept for
 *     the loader only if it goes through the global offset table; and stacks
 *     must begin with the stub's caller.
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
