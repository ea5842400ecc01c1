/*
 * symbols.h: from an address in an image to functions and source lines.
 *
 * Thread context: one thread; those that symbols_prepare makes are gone when
 * it returns.
 */
#ifndef GNOMON_SYMBOLS_H
#define GNOMON_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/files/debugfile.h"

struct symbol_image {
	struct debugfile_wanted file;
	uint64_t bias;		/* run-time address - address in the file */
};

/* One function; the innermost inlined one comes first. */
struct symbol_frame {
	const char *function;	/* demangled; NULL: not known */
	const char *symbol;	/* the linker's name; NULL: not another one */
	const char *file;	/* NULL: not known */
	unsigned line;
	unsigned column;
	unsigned start_line;	/* of the function; 0: not known */
	bool inlined;		/* into the next one */
	uint64_t start;		/* in the file, of a function without a name:
				 * where it begins; 0: not known */
};

struct symbol_place {
	struct symbol_frame *frames;	/* at least one */
	size_t count;
	bool signal;		/* where the kernel returns from a handler */
};

struct symbols;

/* `full`: names are left as the demangler makes them. */
struct symbols *symbols_new(const struct debugfile_places *places, bool full);
/*
 * `index` numbers the image; the same one is always given for it. `address`
 * is a return address, which belongs to the call before it, unless `exact`
 * says that it is where the function was interrupted. The result lives as
 * long as `symbols`. Equal functions and files are equal pointers.
 */
const struct symbol_place *symbols_find(struct symbols *symbols,
					uint32_t index,
					const struct symbol_image *image,
					uint64_t address, bool exact);

/* What will be asked for. */
struct symbol_request {
	uint32_t index;
	struct symbol_image image;
	uint64_t address;
	bool exact;
};

/*
 * Look all of these up at once, by several threads; symbols_find finds the
 * answers then. Files are opened and their functions indexed where one of the
 * addresses lies, so ask for what is going to be shown. Requests may repeat.
 */
void symbols_prepare(struct symbols *symbols,
		     const struct symbol_request *requests, size_t count);
/* The i-th of the names, as the demangler makes them, that are shown as
 * `function`, which is a frame's; NULL: there are no more. */
const char *symbols_whole_name(struct symbols *symbols, const char *function,
			       size_t i);
void symbols_free(struct symbols *symbols);

#endif
