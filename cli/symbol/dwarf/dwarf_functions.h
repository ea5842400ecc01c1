/*
 * dwarf_functions.h: the functions of one unit and the functions inlined into
 * them. An address is found by a binary search and a descent.
 *
 * Thread context: any; one thread at a time for each list.
 */
#ifndef GNOMON_DWARF_FUNCTIONS_H
#define GNOMON_DWARF_FUNCTIONS_H

#include "cli/symbol/dwarf/dwarf.h"

struct dwarf_function {
	uint64_t entry;		/* offset in DWARF_INFO */
	uint32_t next;		/* index after its inlined functions */
	uint32_t first_range;
	uint32_t range_count;
	bool inlined;
	uint32_t call_file;	/* of the call that was inlined */
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
	struct dwarf_function *list;	/* I1: in file order: inlined functions
					 *     follow directly after their
					 *     function */
	size_t count;
	size_t capacity;
	struct dwarf_range *ranges;
	size_t range_count;
	size_t range_capacity;
	struct dwarf_piece *pieces;	/* by low */
	size_t piece_count;
	size_t piece_capacity;
};

/* Reads all entries of the unit, up to the first damage. */
void dwarf_functions_read(struct dwarf_functions *functions,
			  struct dwarf_unit *unit);
void dwarf_functions_free(struct dwarf_functions *functions);

/*
 * The functions that an address lies in, innermost first, as indexes into the
 * list. If there are more than `max`, the outermost are missing. Returns their
 * number.
 */
size_t dwarf_functions_at(const struct dwarf_functions *functions,
			  uint64_t address, uint32_t *found, size_t max);

/* Checks the nesting of functions, and the order of pieces. With
 * GNOMON_DEBUG_ASSERTS. */
bool dwarf_functions_is_valid(const struct dwarf_functions *functions);

#endif
