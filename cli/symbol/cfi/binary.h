/*
 * binary.h: an ELF file for the checks of unwind tables and code: its tables,
 * symbols (its own, or its separate debug file's) and machine.
 *
 * Opened and closed by one thread; read by any.
 */
#ifndef GNOMON_BINARY_H
#define GNOMON_BINARY_H

#include "cli/base/text/buffer.h"
#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/machine.h"
#include "cli/symbol/elf/symtab.h"
#include "cli/symbol/files/debugfile.h"

struct binary {
	struct elffile *file, *debug;	/* debug: NULL if there is none */
	struct callframe table;
	struct symtab symbols;
	const struct machine *machine;
	uint8_t id[ELF_TABLES_ID_MAX];	/* build-id */
	uint32_t id_size;
};

/* Opens a file without its names. Returns NULL or an error text; after an error
 * there is nothing to close. */
const char *binary_open(struct binary *binary, const char *path);
void binary_close(struct binary *binary);

/* Reads symbols, searching debug files as `places` says. Sets `thumb` of the
 * table's entries, which depends on symbols. */
void binary_read_names(struct binary *binary,
		       const struct debugfile_places *places);

/* binary_open and binary_read_names. */
const char *binary_open_named(struct binary *binary, const char *path,
			      const struct debugfile_places *places);
/* The symbol that begins exactly at the address; NULL: none. */
const char *binary_symbol_at(const struct binary *binary, uint64_t address);

/* Whether ARM's code there is in Thumb state: according to the symbol, else to
 * the look of the code. */
bool binary_is_thumb(const struct binary *binary, uint64_t address);

/* "memcpy", "main+0x10", "0x1234": demangled, for output. */
void binary_name(const struct binary *binary, uint64_t address,
		 struct buffer *text);

/* `size` bytes of code in one section; NULL: not in the file. */
const uint8_t *binary_code(const struct binary *binary, uint64_t start,
			   uint64_t size);

#endif
