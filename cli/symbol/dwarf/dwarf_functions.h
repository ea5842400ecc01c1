/*
 * dwarf_functions.h: the functions of one unit, with what was inlined into
 * them, so that an address is found by a binary search and a descent.
 *
 * Thread context: any; one at a time for each list.
 */
#ifndef GNOMON_DWARF_FUNCTIONS_H
#define GNOMON_DWARF_FUNCTIONS_H

#include "cli/symbol/dwarf/dwarf.h"

struct dwarf_function {
	uint64_t entry;		/* offset in DWARF_INFO */
	uint32_t next;		/* behind what it contains */
	uint32_t first_range;
	uint32_t range_count;
	bool inlined;
	uint32_t call_file;	/* where it was inlined into the outer one */
	uint32_t call_line;
	uint32_t call_column;
};

struct dwarf_range {
	uint64_t low;
	uint64_t high;
};

/* A piece of a function that was not inlined. */
struct dwarf_piece {
	uint64_t low;
	uint64_t high;
	uint64_t reach;		/* greatest `high` up to here */
	uint32_t function;
};

struct dwarf_functions {
	struct dwarf_function *list;	/* I1: in the order of the file, so
					 * that what a function contains
					 * stands right behind it */
	size_t count;
	size_t capacity;
	struct dwarf_range *ranges;
	size_t range_count;
	size_t range_capacity;
	struct dwarf_piece *pieces;	/* by low */
	size_t piece_count;
	size_t piece_capacity;
};

/* Of all entries of the unit. Damage ends it early. */
void dwarf_functions_read(struct dwarf_functions *functions,
			  struct dwarf_unit *unit);
void dwarf_functions_free(struct dwarf_functions *functions);

/*
 * Those that an address lies in, the innermost first, as indexes into the
 * list; at most `max`, of which the last is then not the outermost. Returns
 * their number.
 */
size_t dwarf_functions_at(const struct dwarf_functions *functions,
			  uint64_t address, uint32_t *found, size_t max);

/* What lies inside of each, and the order of pieces. With GNOMON_CLAIMS. */
bool dwarf_functions_is_valid(const struct dwarf_functions *functions);

#endif
