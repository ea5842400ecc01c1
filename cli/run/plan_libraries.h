/*
 * plan_libraries.h: the files that the loader will map for a program, by its
 * own rules (ld.so(8)) as far as they can be followed without asking it: of
 * the system's list of directories only the usual ones. Called by the main
 * thread.
 *
 * Of a program that an emulator runs, they lie under a prefix, or where they say;
 * what is for another processor than it is passed over.
 */
#ifndef GNOMON_PLAN_LIBRARIES_H
#define GNOMON_PLAN_LIBRARIES_H

#include <stddef.h>

#include "cli/symbol/elf/elf_kind.h"

/* Paths; the program's own is the first. */
struct plan_libraries {
	char **paths;
	size_t path_count, path_capacity;
	/* of an emulator's program only */
	const char *prefix;		/* NULL: of this machine */
	char *usual;			/* directories */
	struct elf_kind kind;
};

/* Adds what the file number `index` of them needs and is not there yet. */
struct plan_file;
void plan_libraries_add(struct plan_libraries *libraries,
			const struct plan_file *file, size_t index);

/* Makes them those of an emulator's program. The prefix may be "", and stays the
 * caller's; the triplet is what Debian calls folders of libraries by. */
void plan_libraries_emulated(struct plan_libraries *libraries,
			     const char *program, const char *prefix,
			     const char *triplet);
void plan_libraries_free(struct plan_libraries *libraries);
/* Gives them to others, which have each path once. */
void plan_libraries_move(struct plan_libraries *libraries,
			 struct plan_libraries *to);

#endif
