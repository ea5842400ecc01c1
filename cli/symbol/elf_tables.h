/*
 * elf_tables.h: the tables of an ELF file, and what its notes and links say,
 * by a descriptor; for whom a file must do no harm: it may hold anything, and
 * may change while it is read. Nothing is mapped. Every number in the tables is
 * checked against the file's size, memory is limited, and what is read later
 * fails if the file has become shorter.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_ELF_TABLES_H
#define GNOMON_ELF_TABLES_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf_class.h"

#define ELF_TABLES_SECTIONS 4096	/* of a file; usual ones have 30 to 45 */
#define ELF_TABLES_PHDRS 512
#define ELF_TABLES_NAMES (256u << 10)	/* bytes of names of sections */
#define ELF_TABLES_ID_MAX 64	/* bytes of a build-id */

struct elf_tables {
	int fd;			/* -1: none */
	uint64_t size;
	const struct elf_class *class;
	Elf64_Ehdr header;
	uint32_t sections, phdrs;
	Elf64_Shdr *section;
	Elf64_Phdr *phdr;
	char *names;		/* of sections; ends with a NUL */
	size_t names_size;
};

/* Reads the tables of an open file, whose descriptor stays the caller's. 0;
 * -EBADMSG: no ELF file of this machine's order of bytes that makes sense,
 * -E2BIG: more sections than are looked at, -ENOMEM. */
int elf_tables_load(struct elf_tables *tables, int fd);

/* The same, also of a file without a table of sections. */
int elf_tables_load_bare(struct elf_tables *tables, int fd);

/* Frees what was read, also of one that could not be loaded. */
void elf_tables_free(struct elf_tables *tables);

/* "" for one whose name lies outside. */
const char *elf_tables_name(const struct elf_tables *tables,
			    const Elf64_Shdr *section);

/* Whether [offset, offset + n) lies within `size` bytes. */
bool elf_tables_within(uint64_t offset, uint64_t n, uint64_t size);

/* Whether a section has bytes in the file. */
bool elf_tables_has(const struct elf_tables *tables,
		    const Elf64_Shdr *section);

/* The build-id in its notes: its size, 0 if it has none. */
uint32_t elf_tables_id(const struct elf_tables *tables,
		       uint8_t id[ELF_TABLES_ID_MAX]);

/* The name of its separate debug file (.gnu_debuglink). */
bool elf_tables_link(const struct elf_tables *tables, char *name,
		     size_t size);

/* The name of the file with what dwz found in several (.gnu_debugaltlink), and
 * that one's build-id; the size of the latter, 0: it has none. */
uint32_t elf_tables_alternate(const struct elf_tables *tables, char *name,
			      size_t size, uint8_t id[ELF_TABLES_ID_MAX]);

/* n bytes of any file. 0 or -errno; -EBADMSG: it is shorter. */
int elf_tables_bytes(int fd, uint64_t offset, void *to, size_t n);

#endif
