/*
 * embed_open.h: finds and opens files to embed: a mapped file, its separate
 * debug file, and the alternate debug file by dwz. Only a file with the
 * requested build-id is accepted. The recorder only.
 */
#ifndef GNOMON_EMBED_OPEN_H
#define GNOMON_EMBED_OPEN_H

#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"
#include "cli/trace/format/trace_format.h"

struct embed_wanted {
	char path[GT_PATH_MAX];	/* as mapped; absolute, or no file */
	uint64_t start, end;	/* of a mapping of it; 0: unmapped */
	int held;		/* a descriptor of it (embed_held.h), or -1 */
	int pid;
	bool main;		/* the program itself */
	uint8_t id[ELF_TABLES_ID_MAX];
	uint32_t id_size;
};

/* Each function opens and loads a file. Returns its descriptor, or -errno:
 * -ENOENT: not found; -ESTALE: found with another build-id; else the read
 * error. */
int embed_open_binary(const struct embed_wanted *wanted,
		      struct elf_tables *file);

/* `path`, of GT_PATH_MAX bytes: receives the path of the debug file. */
int embed_open_debug(const struct embed_wanted *wanted,
		     const struct elf_tables *binary, char *path,
		     struct elf_tables *file);

/* Opens the alternate file that `of`, at `path`, refers to. Sets `wanted` to
 * describe it. */
int embed_open_alternate(const struct elf_tables *of, const char *path,
			 struct embed_wanted *wanted,
			 struct elf_tables *file);

/* Opens a regular file for reading. -EINVAL: not a regular file. */
int embed_open_plain(const char *path);

#endif
