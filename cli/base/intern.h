/*
 * intern.h: one copy of each distinct string, so that equal strings are equal
 * pointers. The strings live until intern_free.
 */
#ifndef GNOMON_INTERN_H
#define GNOMON_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	const char **slots;
	size_t capacity;	/* power of two */
	size_t used;
	struct intern_block *blocks;
};

/* A zeroed struct intern is empty. */
const char *intern_string(struct intern *set, const char *string);
const char *intern_bytes(struct intern *set, const char *bytes, size_t size);
/* The one that is there, or NULL. */
const char *intern_known(const struct intern *set, const char *string);
void intern_free(struct intern *set);

/* How many there are, that each is found, and how full blocks are. With
 * GNOMON_CLAIMS. */
bool intern_is_valid(const struct intern *set);

#endif
