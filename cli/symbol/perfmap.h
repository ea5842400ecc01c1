/*
 * perfmap.h: names of functions that were made at run time, as a compiler
 * wrote them down for perf: lines "START SIZE NAME", numbers in hexadecimal.
 */
#ifndef GNOMON_PERFMAP_H
#define GNOMON_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"

struct perfmap_entry {
	uint64_t start, end;
	uint64_t reach;		/* highest end of all up to this one */
	size_t order;		/* in the file */
	const char *name;
};

/* A zeroed one is empty. */
struct perfmap {
	struct perfmap_entry *list;
	size_t count;
	size_t capacity;
	bool sorted;
	uint64_t bad;		/* lines that are none */
	struct intern names;
};

/* More of the file: whole lines. */
void perfmap_add(struct perfmap *map, const char *text, size_t size);
/* The name of the code at an address, NULL: not known. Where code came to lie
 * in the place of older code, the newer one's. */
const char *perfmap_find(struct perfmap *map, uint64_t address);
void perfmap_free(struct perfmap *map);

#endif
