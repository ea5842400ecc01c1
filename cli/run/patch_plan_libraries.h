/*
 * patch_plan_libraries.h: finds the libraries that the loader will map for a
 * program, by the rules of ld.so(8). It does not read ld.so.cache, but searches
 * only the usual system directories. Called by the main thread.
 *
 * The libraries of an emulated program are below a prefix or at their own
 * paths. Files for another processor than the program's are skipped.
 */
#ifndef GNOMON_PATCH_PLAN_LIBRARIES_H
#define GNOMON_PATCH_PLAN_LIBRARIES_H

#include <stddef.h>

#include "cli/symbol/elf/elf_kind.h"

/* Paths of files; the program's own is the first. */
struct patch_plan_libraries {
	char **paths;
	size_t path_count, path_capacity;
	/* for an emulated program only */
	const char *prefix;		/* NULL: of this machine */
	char *usual;			/* directories */
	struct elf_kind kind;
};

/* Adds the libraries that file number `index` needs and that are not listed
 * yet. */
struct patch_plan_file;
void patch_plan_libraries_add(struct patch_plan_libraries *libraries,
			      const struct patch_plan_file *file, size_t index);

/* Sets the list up for an emulated program. The prefix may be "", and stays the
 * caller's. The triplet names Debian's library directories. */
void patch_plan_libraries_emulated(struct patch_plan_libraries *libraries,
				   const char *program, const char *prefix,
				   const char *triplet);
void patch_plan_libraries_free(struct patch_plan_libraries *libraries);
/* Moves all paths to another list, without duplicates. */
void patch_plan_libraries_move(struct patch_plan_libraries *libraries,
			       struct patch_plan_libraries *to);

#endif
