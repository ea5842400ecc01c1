/*
 * elf_tables.h: the tables, notes and links of an ELF file; the only reader of
 * them, for recorder, patch plans, embedding and symbols. The file may hold
 * anything. It is read by its descriptor, without a mapping, where it may
 * change while it is read; or it lies in memory, for callers that need section
 * bytes (elffile.h). Every number in the tables is checked against the file's
 * size, memory is limited, and later reads fail if the file was truncated.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_ELF_TABLES_H
#define GNOMON_ELF_TABLES_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_class.h"

#define ELF_TABLES_SECTIONS (1u << 20)	/* of a file: 64 MiB of memory */
#define ELF_TABLES_PHDRS 512
#define ELF_TABLES_NAMES (64u << 20)	/* bytes of names copied, at most */
#define ELF_TABLES_ID_MAX 64	/* bytes of a build-id */

/* A string table (SHT_STRTAB). Each string that begins in it ends in it. */
struct elf_texts {
	const char *data;
	uint64_t size;
	char *owned;		/* NULL: they are part of the file in memory */
};

struct elf_tables {
	int fd;			/* -1: none */
	const uint8_t *bytes;	/* the file, if it is in memory */
	uint64_t size;
	const struct elf_class *class;
	Elf64_Ehdr header;	/* as in the file; later members override it */
	uint32_t sections, phdrs;
	uint32_t names_section;	/* its number */
	Elf64_Shdr *section;
	Elf64_Phdr *phdr;
	struct elf_texts names;	/* of sections */
};

/* Reads the tables of an open file; the caller owns the descriptor. 0;
 * -EBADMSG: not a valid ELF file, -E2BIG: too many sections, -ENOMEM. */
int elf_tables_load(struct elf_tables *tables, int fd);

/* The same; also accepts a file without a section table. */
int elf_tables_load_bare(struct elf_tables *tables, int fd);

/* Like elf_tables_load_bare, for a file in memory, which the caller owns. */
int elf_tables_load_memory(struct elf_tables *tables, const uint8_t *bytes,
			   uint64_t size);

/* Frees the tables, also after a failed load. */
void elf_tables_free(struct elf_tables *tables);

/* "" if the name is out of bounds. */
const char *elf_tables_name(const struct elf_tables *tables,
			    const Elf64_Shdr *section);

/* The first section with this name; NULL: none. */
const Elf64_Shdr *elf_tables_find(const struct elf_tables *tables,
				  const char *name);

/* The first section of this type that has bytes; NULL: none. A file has at most
 * one table of each kind of symbols, and one dynamic section. */
const Elf64_Shdr *elf_tables_of_type(const struct elf_tables *tables,
				     uint32_t type);

/* Whether [offset, offset + n) lies within `size` bytes. */
bool elf_tables_within(uint64_t offset, uint64_t n, uint64_t size);

/* Whether a section has bytes in the file. */
bool elf_tables_has(const struct elf_tables *tables,
		    const Elf64_Shdr *section);

/* The build-id from the notes. Returns its size, 0: none. */
uint32_t elf_tables_id(const struct elf_tables *tables,
		       uint8_t id[ELF_TABLES_ID_MAX]);

/* The name of the separate debug file (.gnu_debuglink). */
bool elf_tables_link(const struct elf_tables *tables, char *name,
		     size_t size);

/* The name and build-id of the file into which dwz moved common parts
 * (.gnu_debugaltlink). Returns the size of the build-id, 0: none. */
uint32_t elf_tables_alternate(const struct elf_tables *tables, char *name,
			      size_t size, uint8_t id[ELF_TABLES_ID_MAX]);

/* n bytes of the file. 0 or -errno; -EBADMSG: the file is shorter. */
int elf_tables_read(const struct elf_tables *tables, uint64_t offset, void *to,
		    size_t n);

/* The same for any file. */
int elf_tables_bytes(int fd, uint64_t offset, void *to, size_t n);

/* The strings of a section; for a file that is read by its descriptor a copy of
 * at most `max` bytes. 0, -EBADMSG or -ENOMEM. */
int elf_texts_load(struct elf_texts *texts, const struct elf_tables *tables,
		   uint32_t section, uint64_t max);

/* "" if the offset is out of bounds. */
const char *elf_texts_at(const struct elf_texts *texts, uint64_t offset);

void elf_texts_free(struct elf_texts *texts);

#endif
