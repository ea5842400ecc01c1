/*
 * elf_tables.h: the tables of an ELF file, and what its notes and links say;
 * the one reader of them for recorder, plans, embedding and symbols. The file
 * may hold anything. It is read by its descriptor, for whom it must do no harm
 * (it may change while it is read; nothing is mapped), or lies in memory, for
 * whom wants the bytes of sections (elffile.h). Every number in the tables is
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

#include "cli/symbol/elf/elf_class.h"

#define ELF_TABLES_SECTIONS (1u << 20)	/* of a file: 64 MiB of memory */
#define ELF_TABLES_PHDRS 512
#define ELF_TABLES_NAMES (64u << 20)	/* bytes of names that are copied */
#define ELF_TABLES_ID_MAX 64	/* bytes of a build-id */

/* A table of texts (SHT_STRTAB). Each that begins in it ends in it. */
struct elf_texts {
	const char *data;
	uint64_t size;
	char *owned;		/* NULL: they lie where the file does */
};

struct elf_tables {
	int fd;			/* -1: none */
	const uint8_t *bytes;	/* all of the file, if it lies in memory */
	uint64_t size;
	const struct elf_class *class;
	Elf64_Ehdr header;	/* as in the file: what follows counts more */
	uint32_t sections, phdrs;
	uint32_t names_section;	/* its number */
	Elf64_Shdr *section;
	Elf64_Phdr *phdr;
	struct elf_texts names;	/* of sections */
};

/* Reads the tables of an open file, whose descriptor stays the caller's. 0;
 * -EBADMSG: no ELF file that makes sense, -E2BIG: more sections than are looked at, -ENOMEM. */
int elf_tables_load(struct elf_tables *tables, int fd);

/* The same, also of a file without a table of sections. */
int elf_tables_load_bare(struct elf_tables *tables, int fd);

/* The latter of a file in memory, which stays the caller's, as it is. */
int elf_tables_load_memory(struct elf_tables *tables, const uint8_t *bytes,
			   uint64_t size);

/* Frees what was read, also of one that could not be loaded. */
void elf_tables_free(struct elf_tables *tables);

/* "" for one whose name lies outside. */
const char *elf_tables_name(const struct elf_tables *tables,
			    const Elf64_Shdr *section);

/* The first section of this name; NULL: there is none. */
const Elf64_Shdr *elf_tables_find(const struct elf_tables *tables,
				  const char *name);

/* The first section of this type that has bytes; NULL: there is none. Of tables
 * of symbols and dynamic sections a file has one each. */
const Elf64_Shdr *elf_tables_of_type(const struct elf_tables *tables,
				     uint32_t type);

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

/* n bytes of the file. 0 or -errno; -EBADMSG: it is shorter. */
int elf_tables_read(const struct elf_tables *tables, uint64_t offset, void *to,
		    size_t n);

/* The same of any file. */
int elf_tables_bytes(int fd, uint64_t offset, void *to, size_t n);

/* The texts of a section; of a file that is read by its descriptor a copy of
 * no more than `most` bytes. 0, -EBADMSG or -ENOMEM. */
int elf_texts_load(struct elf_texts *texts, const struct elf_tables *tables,
		   uint32_t section, uint64_t most);

/* "" for one that lies outside. */
const char *elf_texts_at(const struct elf_texts *texts, uint64_t offset);

void elf_texts_free(struct elf_texts *texts);

#endif
