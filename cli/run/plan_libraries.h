/*
 * plan_libraries.h: the files that the loader will map for a program, by its
 * own rules (ld.so(8)) as far as they can be followed without asking it: of
 * the system's list of directories only the usual ones. Called by the main
 * thread.
 */
#ifndef GNOMON_PLAN_LIBRARIES_H
#define GNOMON_PLAN_LIBRARIES_H

#include <stddef.h>

/* Paths; the program's own is the first. */
struct plan_libraries {
	char **paths;
	size_t path_count, path_capacity;
};

/* Adds what the file number `index` of them needs and is not there yet. */
struct plan_file;
void plan_libraries_add(struct plan_libraries *libraries,
			const struct plan_file *file, size_t index);
void plan_libraries_free(struct plan_libraries *libraries);
/* Gives them to others, which have each path once. */
void plan_libraries_move(struct plan_libraries *libraries,
			 struct plan_libraries *to);

#endif
