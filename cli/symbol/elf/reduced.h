/*
 * reduced.h: a reduced ELF file: only symbols, unwind tables, line tables and
 * debug information are left, in a file that can be used instead of the full
 * one. It is composed piece by piece, as it is read. docs/FORMAT.md, FILE, kind
 * DEBUG, describes it.
 *
 * Its source files may hold anything, and may change while they are read
 * (elf_tables.h). No state but the caller's: any thread.
 */
#ifndef GNOMON_REDUCED_H
#define GNOMON_REDUCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

/* Source and destination of a section's bytes. */
struct reduced_place {
	const struct elf_tables *from;	/* NULL: left out */
	uint64_t at;		/* offset in that file */
	uint64_t offset;	/* offset in the reduced file */
	uint64_t size;
};

/* A section of the binary that may be copied. */
struct reduced_wanted {
	uint64_t address;
	uint32_t name;		/* index in the list of copied names */
	uint32_t section;
};

struct reduced {
	struct elf_tables binary, debug;	/* the caller's */
	/* results of the plan */
	const struct elf_tables *table;	/* whose sections are copied */
	Elf64_Ehdr header;
	Elf64_Phdr *phdr;		/* binary.phdrs */
	struct reduced_place *place;	/* table->sections */
	struct reduced_wanted *wanted;	/* of the binary, if there is a debug
					 * file */
	size_t wanted_count;
	uint64_t size;		/* of the reduced file */
	uint64_t debug_bytes;	/* of debug information in it */
	bool cut;		/* debug information was left out */
};

/*
 * Plans the reduced form of reduced->binary, joined with reduced->debug if that
 * has a descriptor and is of the same program. Debug information larger than
 * debug_bytes_max is left out completely. Frees an earlier plan; all members
 * must be zero before the first. 0, -EBADMSG or -ENOMEM.
 */
int reduced_plan(struct reduced *reduced, uint64_t debug_bytes_max);

/* n bytes of the reduced file from an offset, within reduced->size. 0, or
 * -errno: the source file has changed. */
int reduced_read(const struct reduced *reduced, uint64_t offset, uint8_t *to,
		 size_t n);

/* Frees the plan, not the tables. */
void reduced_free(struct reduced *reduced);

#endif
