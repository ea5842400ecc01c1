/*
 * embed_elf.h: an ELF file reduced to what gives addresses names: symbols,
 * unwind and line tables, debug information; read piece by piece, as if it were
 * a file. docs/FORMAT.md, FILE, kind DEBUG, says what it looks like.
 *
 * A file may hold anything, and may change while it is read: every number in
 * it is checked against the file's size, and what is read later fails if the
 * file has become shorter. The writer only; no state but the caller's.
 */
#ifndef GNOMON_EMBED_ELF_H
#define GNOMON_EMBED_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMBED_ELF_SECTIONS 512	/* of a file; usual ones have 30 to 45 */
#define EMBED_ELF_PHDRS 64
#define EMBED_ELF_NAMES 16384	/* bytes of names of sections */
#define EMBED_ELF_ID_MAX 32

/* A file, and the tables of it. */
struct embed_elf_file {
	int fd;			/* -1: none */
	uint64_t size;
	ElfW(Ehdr) header;
	uint32_t sections, phdrs;
	ElfW(Shdr) section[EMBED_ELF_SECTIONS];
	ElfW(Phdr) phdr[EMBED_ELF_PHDRS];
	char names[EMBED_ELF_NAMES];	/* ends with a NUL */
};

/* Where the bytes of a section come from and go to. */
struct embed_elf_place {
	const struct embed_elf_file *from;	/* NULL: they are left out */
	uint64_t at;		/* in that file */
	uint64_t offset;	/* in the reduced one */
	uint64_t size;
};

struct embed_elf {
	struct embed_elf_file binary, debug;
	/* what was made of the two */
	const struct embed_elf_file *table;	/* whose sections are copied */
	ElfW(Ehdr) header;
	ElfW(Phdr) phdr[EMBED_ELF_PHDRS];
	struct embed_elf_place place[EMBED_ELF_SECTIONS];
	uint64_t size;		/* of the reduced file */
	uint64_t debug_bytes;	/* of it, of debug information */
	bool cut;		/* debug information was left out */
};

/* Reads the tables of an open file, whose descriptor stays the caller's. 0;
 * -EBADMSG: no ELF file of this machine that makes sense, -E2BIG: more sections
 * than are looked at. */
int embed_elf_load(struct embed_elf_file *file, int fd);

/* The build-id in its notes: its size, 0 if it has none. */
uint32_t embed_elf_id(const struct embed_elf_file *file,
		      uint8_t id[EMBED_ELF_ID_MAX]);

/* The name of its separate debug file (.gnu_debuglink). */
bool embed_elf_link(const struct embed_elf_file *file, char *name,
		    size_t size);

/* The name of the file with what dwz found in several (.gnu_debugaltlink), and
 * that one's build-id; the size of the latter, 0: it has none. */
uint32_t embed_elf_alternate(const struct embed_elf_file *file, char *name,
			     size_t size, uint8_t id[EMBED_ELF_ID_MAX]);

/*
 * Lays out the reduced form of e->binary, joined with e->debug if that has a
 * descriptor and is of the same program. More debug information than this is
 * left out, all of it. 0 or -EBADMSG.
 */
int embed_elf_plan(struct embed_elf *e, uint64_t debug_bytes_max);

/* n bytes of the reduced file from an offset on, all within e->size. 0, or
 * -errno: the file has changed. */
int embed_elf_read(const struct embed_elf *e, uint64_t offset, uint8_t *to,
		   size_t n);

/* n bytes of any file; -EBADMSG: it is shorter. */
int embed_elf_bytes(int fd, uint64_t offset, void *to, size_t n);

#endif
