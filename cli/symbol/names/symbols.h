/*
 * symbols.h: looks up functions and source lines of addresses in images.
 *
 * Thread context: one thread; the threads of symbols_prepare have ended when it
 * returns.
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

/* One function; the innermost inlined function comes first. */
struct symbol_frame {
	const char *function;	/* demangled; NULL: unknown */
	const char *symbol;	/* the linker's name; NULL: none of its own */
	const char *file;	/* NULL: unknown */
	unsigned line;
	unsigned column;
	unsigned start_line;	/* of the function; 0: unknown */
	bool inlined;		/* into the next one */
	uint64_t start;		/* of a function without a name: its address in
				 * the file; 0: unknown */
};

struct symbol_place {
	struct symbol_frame *frames;	/* at least one */
	size_t count;
	bool signal;		/* a signal frame: the return from a handler */
};

struct symbols;

/* `full`: do not shorten demangled names. */
struct symbols *symbols_new(const struct debugfile_places *places, bool full);
/*
 * `index` numbers the image; it must always belong to the same image. `address`
 * is a return address, which belongs to the call before it; if `exact`, it is
 * where the function was interrupted. The result lives as long as `symbols`.
 * Equal functions and files are equal pointers.
 */
const struct symbol_place *symbols_find(struct symbols *symbols,
					uint32_t index,
					const struct symbol_image *image,
					uint64_t address, bool exact);

/* A look-up to prepare. */
struct symbol_request {
	uint32_t index;
	struct symbol_image image;
	uint64_t address;
	bool exact;
};

/*
 * Look up all requests at once, with several threads; symbols_find returns the
 * results later. Files that contain one of the addresses are opened and
 * indexed, so request all addresses that will be shown. Requests may repeat.
 */
void symbols_prepare(struct symbols *symbols,
		     const struct symbol_request *requests, size_t count);
/* The i-th demangled name that is shown as `function`, a frame's function;
 * NULL: there are no more. */
const char *symbols_whole_name(struct symbols *symbols, const char *function,
			       size_t i);
void symbols_free(struct symbols *symbols);

#endif
