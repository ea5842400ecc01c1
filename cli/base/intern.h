/*
 * intern.h: interned strings: one copy of each distinct string, so that equal
 * strings are equal pointers. Strings are numbered from 0 in order of first
 * use, like pairs (pairset.h), and live until intern_free.
 */
#ifndef GNOMON_INTERN_H
#define GNOMON_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	const char **list;	/* by number */
	size_t count, list_capacity;
	uint32_t *slots;	/* numbers; INTERN_FREE */
	size_t capacity;	/* power of two */
	struct intern_block *blocks;
};

#define INTERN_FREE UINT32_MAX		/* no string has that number */

/* A zeroed struct intern is empty. */
const char *intern_string(struct intern *set, const char *string);
const char *intern_bytes(struct intern *set, const char *bytes, size_t size);
/* The number of the string in the list; a new string gets the previous
 * `count`. */
uint32_t intern_number(struct intern *set, const char *bytes, size_t size);
/* The existing copy, or NULL. */
const char *intern_known(const struct intern *set, const char *string);
void intern_free(struct intern *set);

/* Checks counts, that each string is found, and block sizes. With
 * GNOMON_DEBUG_ASSERTS. */
bool intern_is_valid(const struct intern *set);

#endif
