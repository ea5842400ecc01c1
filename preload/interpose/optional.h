/*
 * optional.h: conditional exports: functions that are visible only if the
 * program would find one of the same name without us.
 *
 * Programs test for an allocator's own functions: by weak references (`if
 * (mallocx)`), by dlsym, by a configure check. If we always exported them,
 * every program would seem to have all of them; if never, those allocations
 * would not be recorded. So our symbol table has their names without an
 * address, which the loaders of glibc and musl do not take for a definition.
 * optional_now() adds the address if a real function exists behind ours.
 *
 * An entry consists of APPEAR (its name) and a row in a table of struct appear
 * (our function, and where the real address is stored).
 */
#ifndef GNOMON_OPTIONAL_H
#define GNOMON_OPTIONAL_H

#include "preload/base/base.h"
#include "unwind/elf/elfmap.h"

struct optional {
	const char *name;
	void *entry;	/* our function; NULL: none */
	void **real;	/* *real: the real function; NULL: stays hidden */
};

/*
 * A symbol in a section that is not loaded has the value 0. C code of this
 * library cannot call the name.
 */
#define OPTIONAL(name)                                    \
	__asm__(".pushsection .appear,\"\"\n"           \
		"\t.globl " #name "\n"                  \
		"\t.type " #name ", %function\n"        \
		#name ":\n"                             \
		"\t.popsection\n")

/*
 * Makes the names visible whose *real is set, and redirects existing bindings
 * of the real functions to the entries. For the constructor. `theirs`: the
 * image that has a real function keeps calling it directly. False: nothing was
 * changed.
 */
bool optional_now(const struct optional *table, size_t count, bool theirs);

/*
 * Redirects the symbol table entries of an image that have a row's real
 * function to our entries, in this process's memory: for all rows that have
 * one, or none (false). The image must stay loaded.
 */
bool optional_in_table(const struct elfmap *map, const struct optional *table,
		       size_t count);

/*
 * Does the same for names that are always visible, where another library
 * precedes ours (real_front): its symbols lead to the entries from now on.
 */
bool optional_in_front(const struct optional *table, size_t count);

#endif
