/*
 * reduced.h: an ELF file without what only matters for running it: what is left
 * are symbols, unwind tables, line tables and debug information, in a file that
 * stands for the whole one; read piece by piece, as if it were a file.
 * docs/FORMAT.md, FILE, kind DEBUG, says what it looks like.
 *
 * The files it is made of may hold anything, and may change while they are read
 * (elf_tables.h). No state but the caller's: any thread.
 */
#ifndef GNOMON_REDUCED_H
#define GNOMON_REDUCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

/* Where the bytes of a section come from and go to. */
struct reduced_place {
	const struct elf_tables *from;	/* NULL: they are left out */
	uint64_t at;		/* in that file */
	uint64_t offset;	/* in the reduced one */
	uint64_t size;
};

/* A section of the binary that may be wanted. */
struct reduced_wanted {
	uint64_t address;
	uint32_t name;		/* its number among those that are wanted */
	uint32_t section;
};

struct reduced {
	struct elf_tables binary, debug;	/* the caller's */
	/* what was made of the two */
	const struct elf_tables *table;	/* whose sections are copied */
	Elf64_Ehdr header;
	Elf64_Phdr *phdr;		/* binary.phdrs */
	struct reduced_place *place;	/* table->sections */
	struct reduced_wanted *wanted;	/* the binary's, if there are two */
	size_t wanted_count;
	uint64_t size;		/* of the reduced file */
	uint64_t debug_bytes;	/* of it, of debug information */
	bool cut;		/* debug information was left out */
};

/*
 * Lays out the reduced form of reduced->binary, joined with reduced->debug if
 * that has a descriptor and is of the same program. More debug information than
 * this is left out, all of it. What an earlier plan had is freed: at first it
 * is NULL. 0, -EBADMSG or -ENOMEM.
 */
int reduced_plan(struct reduced *reduced, uint64_t debug_bytes_max);

/* n bytes of the reduced file from an offset on, all within reduced->size. 0,
 * or -errno: the file has changed. */
int reduced_read(const struct reduced *reduced, uint64_t offset, uint8_t *to,
		 size_t n);

/* Frees what reduced_plan laid out, not the tables. */
void reduced_free(struct reduced *reduced);

#endif
