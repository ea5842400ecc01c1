/*
 * perfmap.h: perf map files: names of functions generated at run time, as lines
 * "START SIZE NAME" with hexadecimal numbers.
 *
 * An address may belong to several functions over time. The age of a line is
 * known relative to the ids of context nodes, which grow with time: lines come
 * in pieces, and for each piece the first younger id is known.
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
	uint32_t since;		/* the first node younger than the entry */
	const char *name;
};

/* A zeroed one is empty. */
struct perfmap {
	struct perfmap_entry *list;
	size_t count;
	size_t capacity;
	bool sorted;
	uint32_t pieces;
	uint32_t since;		/* of the last piece */
	uint64_t bad;		/* invalid lines */
	struct intern names;
};

/* Add whole lines of the file; they are older than node `node` and all later
 * nodes. 0: unknown. */
void perfmap_add(struct perfmap *map, const char *text, size_t size,
		 uint32_t node);
/*
 * The name of the code at an address when the node `id` was made; NULL:
 * unknown. It is the newest line of the pieces that existed then. If all came
 * later (compilers write late), it is from the first piece with a name.
 */
const char *perfmap_find(struct perfmap *map, uint64_t address, uint32_t id);
void perfmap_free(struct perfmap *map);

/* Entries end after their start and have existing pieces; sorted, if marked so.
 * With GNOMON_DEBUG_ASSERTS. */
bool perfmap_is_valid(const struct perfmap *map);

#endif
