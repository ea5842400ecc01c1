/*
 * embed_open.h: the files that are embedded, found where they are now: what is
 * mapped, its separate debug file, and what dwz took out of that. Only a file
 * with the build-id that is wanted counts. The writer only.
 */
#ifndef GNOMON_EMBED_OPEN_H
#define GNOMON_EMBED_OPEN_H

#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"
#include "cli/trace/format/trace_format.h"

struct embed_wanted {
	char path[GT_PATH_MAX];	/* as mapped; absolute, or not of a file */
	uint64_t start, end;	/* of a mapping of it, 0: it is gone */
	int held;		/* a descriptor of it (embed_held.h), or -1 */
	int pid;
	bool main;		/* the program itself */
	uint8_t id[ELF_TABLES_ID_MAX];
	uint32_t id_size;
};

/* Each opens and loads a file: its descriptor, or -errno: -ENOENT: not here,
 * -ESTALE: what is here is another, else why it cannot be read. */
int embed_open_binary(const struct embed_wanted *wanted,
		      struct elf_tables *file);

/* `path`, of GT_PATH_MAX: where it was found. */
int embed_open_debug(const struct embed_wanted *wanted,
		     const struct elf_tables *binary, char *path,
		     struct elf_tables *file);

/* What `of`, which lies at `path`, refers to; `wanted` then says what that is
 * called. */
int embed_open_alternate(const struct elf_tables *of, const char *path,
			 struct embed_wanted *wanted,
			 struct elf_tables *file);

/* A plain file for reading, whatever else it may be: -EINVAL: none. */
int embed_open_plain(const char *path);

#endif
