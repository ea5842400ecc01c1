/*
 * perfmap.h: names of functions that were made at run time, as a compiler
 * wrote them down for perf: lines "START SIZE NAME", numbers in hexadecimal.
 *
 * An address may have meant several functions in its time. When a line came is
 * known by the ids of context nodes, which grow with time: lines come in
 * pieces, and a piece tells which ids are younger than it.
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
	uint32_t piece;
	uint32_t since;		/* the first node younger than it */
	const char *name;
};

/* A zeroed one is empty. */
struct perfmap {
	struct perfmap_entry *list;
	size_t count;
	size_t capacity;
	bool sorted;
	uint32_t pieces;
	uint32_t since;		/* of the last one */
	uint64_t bad;		/* lines that are none */
	struct intern names;
};

/* More of the file: whole lines, all of them older than the node `node` and
 * those behind it; 0: nothing is known of that. */
void perfmap_add(struct perfmap *map, const char *text, size_t size,
		 uint32_t node);
/*
 * The name of the code that lay at an address when the node `id` was made;
 * NULL: not known. The newest line of the pieces there were by then; if all
 * came later (compilers write late), that of the first piece that has one.
 */
const char *perfmap_find(struct perfmap *map, uint64_t address, uint32_t id);
void perfmap_free(struct perfmap *map);

/* Ends behind starts, pieces that are there; sorted, where it says so. With
 * GNOMON_CLAIMS. */
bool perfmap_is_valid(const struct perfmap *map);

#endif
