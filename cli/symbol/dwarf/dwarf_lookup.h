/*
 * dwarf_lookup.h: looks up addresses of one unit: the functions at an address,
 * innermost first, each with its source line.
 *
 * Thread context: any; one thread at a time for each look-up.
 */
#ifndef GNOMON_DWARF_LOOKUP_H
#define GNOMON_DWARF_LOOKUP_H

#include "cli/base/text/buffer.h"
#include "cli/symbol/dwarf/dwarf.h"
#include "cli/symbol/dwarf/dwarf_functions.h"
#include "cli/symbol/dwarf/dwarf_lines.h"

#define DWARF_INLINE_MAX 128	/* functions at one address */

struct dwarf_frame {
	uint32_t function;	/* number in this unit; UINT32_MAX: none */
	uint32_t file;		/* likewise; UINT32_MAX: unknown */
	uint32_t line;
	uint32_t column;
	bool inlined;
};

struct dwarf_lookup {
	struct dwarf_unit *unit;
	struct dwarf_unit *entries;	/* the unit with its entries: itself, or
					 * its part in a .dwo */
	struct dwarf_functions functions;
	struct dwarf_lines lines;
};

/*
 * Read a unit's tables. `entries` is the unit itself, or its part in a .dwo.
 * false: the file's budget is used up (see dwarf.h).
 */
bool dwarf_lookup_open(struct dwarf_lookup *lookup, struct dwarf_unit *unit,
		       struct dwarf_unit *entries);
void dwarf_lookup_close(struct dwarf_lookup *lookup);

/* At least one frame, possibly with nothing known. */
size_t dwarf_lookup_at(const struct dwarf_lookup *lookup, uint64_t address,
		       struct dwarf_frame frames[DWARF_INLINE_MAX]);
struct dwarf_naming dwarf_lookup_name(const struct dwarf_lookup *lookup,
				      uint32_t function);

#endif
