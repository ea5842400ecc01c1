/*
 * dwarf.h: a file's debug information: its units, and where each has code.
 *
 * DWARF 2 to 5, as section 7 of the standards lays it out, and what GNU made
 * of version 4 for split files and for dwz.
 *
 *	struct dwarf ──▶ sections          one ELF file, or one unit's part of
 *	      │                            a .dwp package
 *	      ├────────▶ units ──▶ abbrevs (shared, read when first wanted)
 *	      ├────────▶ alt               dwz's file with what several share
 *	      └────────▶ skeletons         of a .dwo: the file it belongs to
 *
 * All input is hostile: every read is bounded (bytes.h), every chain has a
 * limit, and what is read more than once has a budget. libdw cannot be given
 * such input; docs/notes/reading.md says what was found.
 *
 * Thread context: opening and closing is one thread's; all else any thread's.
 */
#ifndef GNOMON_DWARF_H
#define GNOMON_DWARF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/bytes.h"
#include "cli/symbol/elf/elffile.h"

enum dwarf_section {
	DWARF_INFO, DWARF_ABBREV, DWARF_STR, DWARF_LINE, DWARF_LINE_STR,
	DWARF_RANGES, DWARF_RNGLISTS, DWARF_ADDR, DWARF_STR_OFFSETS,
	DWARF_SECTIONS
};

struct dwarf_unit {
	struct dwarf *dwarf;
	uint64_t offset;	/* of its header, in DWARF_INFO */
	uint64_t root;		/* of its first entry */
	uint64_t end;
	uint64_t abbrev_offset;
	uint8_t version;
	uint8_t address_size;
	uint8_t offset_size;	/* 4 or 8 */
	uint8_t type;		/* DW_UT_* */
	uint16_t tag;		/* of the first entry; 0: not read */
	/* From the first entry. */
	uint64_t dwo_id;
	uint64_t low;		/* what its ranges count from */
	uint64_t addr_base;
	uint64_t str_offsets_base;
	uint64_t rnglists_base;
	uint64_t ranges_base;	/* DW_AT_GNU_ranges_base */
	uint64_t line_offset;	/* UINT64_MAX: no line table */
	const char *name;	/* NULL: none */
	const char *directory;	/* NULL: none */
	const char *dwo_name;	/* not NULL: the rest is in another file */
	struct dwarf_unit *skeleton;	/* of a unit in a .dwo */
	struct dwarf_abbrevs *_Atomic abbrevs;
	atomic_bool charged;	/* to the budget */
};

/* What a function is called, and where. */
struct dwarf_naming {
	const char *name;	/* the linker's, or else the source's; or
				 * NULL */
	bool mangled;		/* it is the linker's */
	uint32_t line;		/* of the source; 0: not known */
};

/* Code of a unit. */
struct dwarf_area {
	uint64_t low;
	uint64_t high;
	uint64_t reach;		/* greatest `high` up to here */
	uint32_t unit;
};

struct dwarf {
	struct span sections[DWARF_SECTIONS];
	struct dwarf_unit *units;	/* by offset */
	size_t unit_count;
	size_t unit_capacity;
	struct dwarf_area *areas;	/* by low */
	size_t area_count;
	size_t area_capacity;
	struct dwarf *alt;		/* not owned; may be NULL */
	struct dwarf_abbrevs **tables;	/* the units' */
	size_t table_count;
	size_t table_capacity;
	pthread_mutex_t lock;		/* of the tables */
	bool split;			/* a .dwo, or a part of a .dwp */
	/* What may still be read of it: well-formed files come nowhere near
	 * the end of it, which keeps the time for others in bounds. */
	atomic_llong budget;
};

/* The sections of a file: .debug_*, or .debug_*.dwo. */
void dwarf_sections(struct elffile *file, bool split,
		    struct span sections[DWARF_SECTIONS]);
/*
 * NULL: there is no debug information. The sections stay the caller's and
 * must live longer. `alt`: dwz's file or NULL. `skeleton`: for a .dwo, the
 * unit that it belongs to.
 */
struct dwarf *dwarf_open(const struct span sections[DWARF_SECTIONS],
			 struct dwarf *alt, struct dwarf_unit *skeleton);
/* Find the units' code (not for a .dwo, nor dwz's file). */
void dwarf_find_areas(struct dwarf *dwarf);
void dwarf_close(struct dwarf *dwarf);

/* The unit with code at an address, NULL if none has. */
struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address);
/* The unit that an offset in DWARF_INFO lies in, NULL if none does. */
struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t offset);

/* Take `size` bytes from the budget; false: it is used up. */
bool dwarf_charge(struct dwarf *dwarf, uint64_t size);

/* Units one behind the other, areas in order and of a unit. With
 * GNOMON_CLAIMS. */
bool dwarf_is_valid(const struct dwarf *dwarf);

#endif
