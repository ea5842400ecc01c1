/*
 * binary.h: an ELF file whose unwind tables and code are looked at, with the
 * names of its functions: its own, or those of its separate debug file.
 *
 * Opened and closed by one thread, asked by any.
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

/* NULL, or what is wrong with the file, after which there is nothing to close.
 * Debug files are looked for where the places say. */
const char *binary_open(struct binary *binary, const char *path,
			const struct debugfile_places *places);
void binary_close(struct binary *binary);

/* The symbol that begins exactly there; NULL: none does. */
const char *binary_symbol_at(const struct binary *binary, uint64_t address);

/* "memcpy", "main+0x10", "0x1234": demangled, for people. */
void binary_name(const struct binary *binary, uint64_t address,
		 struct buffer *text);

/* size bytes of code in one section; NULL: they are not in the file. */
const uint8_t *binary_code(const struct binary *binary, uint64_t start,
			   uint64_t size);

#endif
