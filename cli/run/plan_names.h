/*
 * plan_names.h: the names by which allocators' functions are known, and what
 * each does. No state.
 */
#ifndef GNOMON_PLAN_NAMES_H
#define GNOMON_PLAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/base/patch_format.h"

/* How an allocator's functions are prefixed, and what to call it. */
struct plan_family {
	const char *prefix;	/* "" for the C library's own names */
	size_t length;
	const char *allocator;
};

/* The prefixes that are known beforehand; that of length 0 is the last. */
extern const struct plan_family plan_families[];
extern const size_t plan_family_count;

/* Fills *shape; false: no function of an allocator is called so. */
bool plan_names_function(const struct plan_family *family, const char *name,
			 struct patch_shape *shape);

/* The same for C++'s operators new and delete. */
bool plan_names_operator(const char *name, struct patch_shape *shape);

/*
 * jemalloc may have any prefix: the one of a function that no other allocator
 * has. 0: this is not its name, or the prefix is known or none.
 */
size_t plan_names_jemalloc(const char *name);

/* Whether a symbol of this name may share an entry with such a function. */
bool plan_names_related(const char *name);

/* A sanitizer's run-time library, by a function that only it has: what to
 * call it, or NULL. */
const char *plan_names_sanitizer(const char *name);

/* An allocator with the C library's names, by another function of it, or
 * NULL. */
const char *plan_names_telling(const char *name);

#endif
