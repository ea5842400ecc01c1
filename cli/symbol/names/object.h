/*
 * object.h: the symbols of one ELF file: the file, its debug files, and
 * look-ups of addresses in them.
 *
 * Thread context: one thread opens and closes; any reads.
 */
#ifndef GNOMON_SYMBOL_OBJECT_H
#define GNOMON_SYMBOL_OBJECT_H

#include "cli/symbol/dwarf/dwarf.h"
#include "cli/symbol/dwarf/dwarf_lookup.h"
#include "cli/symbol/dwarf/dwarf_split.h"
#include "cli/symbol/elf/elffile.h"
#include "cli/symbol/elf/fdes.h"
#include "cli/symbol/elf/symtab.h"
#include "cli/symbol/files/debugfile.h"

struct object {
	const struct debugfile_places *places;
	struct elffile *binary;		/* NULL: not found */
	struct elffile *debug;		/* NULL: part of the binary, or not
					 * found */
	struct elffile *shared;		/* dwz's */
	struct elffile *mini;
	struct dwarf *dwarf;		/* NULL: none */
	struct dwarf *alt;
	struct dwarf_package *package;
	struct symtab symbols;
	struct fdes fdes;
	atomic_bool reported;		/* a missing .dwo was reported */
};

/* A unit opened for look-ups. */
struct object_unit {
	struct dwarf_lookup lookup;
	struct elffile *file;		/* a .dwo */
	struct dwarf *split;
};

/* `wanted` is not kept. */
void object_open(struct object *object, const struct debugfile_places *places,
		 const struct debugfile_wanted *wanted);
/* The same for a file that was already found: takes over the results of
 * debugfile_binary. */
void object_open_found(struct object *object,
		       const struct debugfile_places *places,
		       const struct debugfile_wanted *wanted, int fd,
		       char *path);
void object_close(struct object *object);

/* An address within the call that returns to this address: the instruction
 * before; on MIPS the one before the delay slot. */
uint64_t object_call(const struct object *object, uint64_t address);
/* The unit of an address; NULL: no debug information. */
struct dwarf_unit *object_unit_at(struct object *object, uint64_t address);
/* false: the unit cannot be read. */
bool object_unit_open(struct object *object, struct dwarf_unit *unit,
		      struct object_unit *opened);
void object_unit_close(struct object_unit *opened);

#endif
