/*
 * patch_plan_names.h: recognises functions of known allocators by name. No
 * state.
 */
#ifndef GNOMON_PATCH_PLAN_NAMES_H
#define GNOMON_PATCH_PLAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/base/patch_format.h"

/* The prefix of an allocator's functions, and the allocator's name. */
struct patch_plan_family {
	const char *prefix;	/* "": the C library's own names */
	size_t length;
	const char *allocator;
};

/* Fixed prefixes; the last one has length 0. */
extern const struct patch_plan_family patch_plan_families[];
extern const size_t patch_plan_family_count;

/* Fills *shape; false: not the name of an allocator function. */
bool patch_plan_names_function(const struct patch_plan_family *family,
			       const char *name, struct patch_shape *shape);

/* The same for C++'s operators new and delete. */
bool patch_plan_names_operator(const char *name, struct patch_shape *shape);

/*
 * jemalloc may have any prefix. Returns the prefix length of a function that
 * only jemalloc has. 0: not that function, or a fixed prefix, or no prefix.
 */
size_t patch_plan_names_jemalloc(const char *name);

/* Whether a symbol of this name may have the same address as such a
 * function. */
bool patch_plan_names_related(const char *name);

/* The name of a sanitizer, recognised by a function that only its run-time
 * library has; or NULL. */
const char *patch_plan_names_sanitizer(const char *name);

/* The name of an allocator that uses the C library's names, recognised by
 * another function that only it has; or NULL. */
const char *patch_plan_names_telling(const char *name);

#endif
