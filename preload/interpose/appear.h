/*
 * appear.h: exported functions that are there only if the program would have
 * found one without us.
 *
 * Programs ask whether they have an allocator's own functions: by weak
 * references (`if (mallocx)`), by dlsym, by the result of a configure check.
 * If we exported them always, every program would seem to have all of them;
 * if never, those allocations were not seen. So their names are in our symbol
 * table without an address, which the loaders of glibc and musl take for no
 * definition, until appear_now() finds that there is a real one behind ours.
 *
 * An entry is made of APPEAR (its name) and a row in a table of struct appear
 * (where the name leads, and where the real address is kept).
 */
#ifndef GNOMON_APPEAR_H
#define GNOMON_APPEAR_H

#include "preload/base/base.h"
#include "unwind/elfmap.h"

struct appear {
	const char *name;
	void *entry;	/* what takes its place; NULL: nothing does */
	void **real;	/* *real: the real function; NULL: stays away */
};

/*
 * Symbols of a section that is not loaded have the value 0. The name is none
 * of C's: nothing in this library can call it.
 */
#define APPEAR(name)                                    \
	__asm__(".pushsection .appear,\"\"\n"           \
		"\t.globl " #name "\n"                  \
		"\t.type " #name ", %function\n"        \
		#name ":\n"                             \
		"\t.popsection\n")

/*
 * Makes those names visible whose *real is set, and lets what was bound to
 * the real functions before lead to the entries. For the constructor.
 * `theirs`: the image that has a real function keeps calling it directly.
 * False: nothing was changed.
 */
bool appear_now(const struct appear *table, size_t count, bool theirs);

/*
 * Lets the entries of an image's symbol table that have a row's real function
 * lead to ours, in this process's memory: where all rows with one are there, or
 * nothing is changed (false). The image stays.
 */
bool appear_in_table(const struct elfmap *map, const struct appear *table,
		     size_t count);

/*
 * The same for names that are always visible, where another library's stand
 * before them (real_front): its lead to the entries from now on.
 */
bool appear_in_front(const struct appear *table, size_t count);

#endif
