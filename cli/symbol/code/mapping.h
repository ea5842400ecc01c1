/*
 * mapping.h: mapping symbols: ARM's and AArch64's assemblers mark with them the
 * kind of code bytes (ELF for the Arm Architecture, "Mapping symbols"):
 *
 *	$a $x	instructions of 4 bytes		$t	Thumb
 *	$d	data between them
 *
 * Thread context: made by one thread, read by any.
 */
#ifndef GNOMON_MAPPING_H
#define GNOMON_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elffile.h"

enum mapping_kind { MAPPING_CODE, MAPPING_THUMB, MAPPING_DATA };

/* A zeroed one is empty. */
struct mapping {
	struct mapping_symbol {
		uint64_t address;
		enum mapping_kind kind;
	} *list;		/* by address, after mapping_read */
	size_t count;
	size_t capacity;
};

/* Reads those of a file; false: it has none. */
bool mapping_read(struct mapping *mapping, const struct elffile *file);
/*
 * The kind of bytes at an address of the file, and where it ends: *end is
 * unchanged if no symbol follows. False: no symbol applies.
 */
bool mapping_at(const struct mapping *mapping, uint64_t address,
		enum mapping_kind *kind, uint64_t *end);
void mapping_free(struct mapping *mapping);

#endif
