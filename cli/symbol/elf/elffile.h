/*
 * elffile.h: an ELF file in memory: its tables (elf_tables.h), and its
 * sections, decompressed if necessary.
 */
#ifndef GNOMON_ELFFILE_H
#define GNOMON_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/bytes.h"
#include "cli/symbol/elf/elf_tables.h"

struct elffile {
	char *path;		/* for messages, and to find files beside it */
	struct elf_tables tables;
	bool mapped;		/* mapped; else the bytes are from malloc */
	void **owned;		/* decompressed sections */
	size_t owned_count;
	size_t owned_capacity;
};

/*
 * Takes over the descriptor; copies the path. NULL: not an ELF file. It may
 * have no sections.
 */
struct elffile *elffile_open(int fd, const char *path);
/* The same for `size` bytes from malloc, which it takes over. */
struct elffile *elffile_of_memory(unsigned char *memory, size_t size,
				  const char *path);
/* NULL is allowed. Its spans and strings become invalid. */
void elffile_close(struct elffile *file);

/*
 * A section's bytes; for ".debug_x" also those of ".zdebug_x" in old files.
 * Empty if the section is missing, has no bytes in this file, or is damaged.
 * Not for several threads at once.
 */
struct span elffile_section(struct elffile *file, const char *name);
/* Whether it has bytes in this file; does not decompress. */
bool elffile_has_section(const struct elffile *file, const char *name);
/* The address at which the section is mapped; 0: none. */
uint64_t elffile_section_address(const struct elffile *file, const char *name);

#endif
