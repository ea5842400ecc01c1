/*
 * elffile.h: an ELF file in memory, for whom wants its bytes: its tables
 * (elf_tables.h), and its sections, decompressed where they are compressed.
 */
#ifndef GNOMON_ELFFILE_H
#define GNOMON_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/bytes.h"
#include "cli/symbol/elf/elf_tables.h"

struct elffile {
	char *path;		/* for messages, and beside which others lie */
	struct elf_tables tables;
	bool mapped;		/* its bytes are; or they are from malloc */
	void **owned;		/* what was decompressed */
	size_t owned_count;
	size_t owned_capacity;
};

/*
 * Takes the descriptor over, and copies the path. NULL: it is no ELF file. It
 * may have no sections.
 */
struct elffile *elffile_open(int fd, const char *path);
/* The same of `size` bytes from malloc, which are taken over. */
struct elffile *elffile_of_memory(unsigned char *memory, size_t size,
				  const char *path);
/* NULL is allowed. Spans and strings of it are gone then. */
void elffile_close(struct elffile *file);

/*
 * A section's bytes; those of ".zdebug_x" for ".debug_x" in old files. Empty
 * if it is not there, has none in this file, or is damaged. Not for several
 * threads at once.
 */
struct span elffile_section(struct elffile *file, const char *name);
/* Whether it has bytes in this file; nothing is decompressed for that. */
bool elffile_has_section(const struct elffile *file, const char *name);
/* Address at which the section is mapped; 0 if there is none. */
uint64_t elffile_section_address(const struct elffile *file, const char *name);

#endif
