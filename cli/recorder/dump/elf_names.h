/*
 * elf_names.h: looks up function names in an ELF file's symbol table.
 */
#ifndef GNOMON_ELF_NAMES_H
#define GNOMON_ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/dump/scratch.h"

/* An address to be named. Addresses are as in the file. */
struct elf_wanted {
	uint64_t address;
	const char *name;	/* NULL: no function covers it */
	uint64_t start;		/* of the function */
	uint32_t rank;		/* how good the name is */
	uint32_t owner;		/* the caller's */
};

/*
 * Names all of wanted[], sorted by address, from .symtab or else .dynsym. Names
 * are copied into `memory`. False: the file cannot be read, or has another
 * build-id. build_id_size 0: not checked.
 */
bool elf_names_find(const char *path, const uint8_t *build_id,
		    uint32_t build_id_size, struct elf_wanted *wanted,
		    size_t count, struct scratch *memory);

#endif
