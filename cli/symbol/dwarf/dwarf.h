/*
 * dwarf.h: a file's debug information: its units, and the code of each.
 *
 * DWARF 2 to 5 (section 7 of the standards), with GNU's extensions of version 4
 * for split files and dwz.
 *
 *	struct dwarf ──▶ sections          one ELF file, or one unit's part of
 *	      │                            a .dwp package
 *	      ├────────▶ units ──▶ abbrevs (shared, read at first use)
 *	      ├────────▶ alt               dwz's file, shared by several
 *	      └────────▶ skeletons         of a .dwo: the file it belongs to
 *
 * All input is hostile: every read is bounded (bytes.h), every chain has a
 * limit, and repeated reads have a budget. libdw is not safe for such input;
 * docs/notes/reading.md has the findings.
 *
 * Thread context: one thread opens and closes; any thread does all else.
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
	uint64_t low;		/* base of its ranges */
	uint64_t addr_base;
	uint64_t str_offsets_base;
	uint64_t rnglists_base;
	uint64_t ranges_base;	/* DW_AT_GNU_ranges_base */
	uint64_t line_offset;	/* UINT64_MAX: no line table */
	const char *name;	/* NULL: none */
	const char *directory;	/* NULL: none */
	const char *dwo_name;	/* not NULL: its entries are in another file */
	struct dwarf_unit *skeleton;	/* of a unit in a .dwo */
	struct dwarf_abbrevs *_Atomic abbrevs;
	atomic_bool charged;	/* whether it was taken from the budget */
};

/* Name and line of a function. */
struct dwarf_naming {
	const char *name;	/* the linker's, or else the source's; or
				 * NULL */
	bool mangled;		/* it is the linker's name */
	uint32_t line;		/* in the source; 0: unknown */
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
	/* Bytes that may still be read. Well-formed files use a small part; the
	 * limit bounds the time for other files. */
	atomic_llong budget;
};

/* The sections of a file: .debug_*, or .debug_*.dwo. */
void dwarf_sections(struct elffile *file, bool split,
		    struct span sections[DWARF_SECTIONS]);
/*
 * NULL: no debug information. The caller owns the sections, which must live
 * longer. `alt`: dwz's file or NULL. `skeleton`: for a .dwo, the unit that it
 * belongs to.
 */
struct dwarf *dwarf_open(const struct span sections[DWARF_SECTIONS],
			 struct dwarf *alt, struct dwarf_unit *skeleton);
/* Find the units' code (not for a .dwo or dwz's file). */
void dwarf_find_areas(struct dwarf *dwarf);
void dwarf_close(struct dwarf *dwarf);

/* The unit with code at an address, NULL if none has. */
struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address);
/* The unit that contains an offset of DWARF_INFO, NULL if none does. */
struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t offset);

/* Take `size` bytes from the budget; false: it is used up. */
bool dwarf_charge(struct dwarf *dwarf, uint64_t size);

/* Units are in order without overlaps, areas are sorted and have units. With
 * GNOMON_DEBUG_ASSERTS. */
bool dwarf_is_valid(const struct dwarf *dwarf);

#endif
