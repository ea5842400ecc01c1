/*
 * object.h: all that is known of one ELF file's code: the file, the files with
 * its symbols, and what they say of an address.
 *
 * Thread context: opened and closed by one thread; asked by any.
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
	struct elffile *binary;		/* NULL: it is nowhere */
	struct elffile *debug;		/* NULL: in the binary, or nowhere */
	struct elffile *shared;		/* dwz's */
	struct elffile *mini;
	struct dwarf *dwarf;		/* NULL: none */
	struct dwarf *alt;
	struct dwarf_package *package;
	struct symtab symbols;
	struct fdes fdes;
	atomic_bool told;		/* that a .dwo is missing */
};

/* A unit that is being looked into. */
struct object_unit {
	struct dwarf_lookup lookup;
	struct elffile *file;		/* a .dwo */
	struct dwarf *split;
};

/* `wanted` is not kept. */
void object_open(struct object *object, const struct debugfile_places *places,
		 const struct debugfile_wanted *wanted);
/* The same, if the file was found already: what debugfile_binary gave is taken
 * over. */
void object_open_found(struct object *object,
		       const struct debugfile_places *places,
		       const struct debugfile_wanted *wanted, int fd,
		       char *path);
void object_close(struct object *object);

/* An address in the call that returns to this one: it is in the instruction
 * before it; on MIPS, one more stands between. */
uint64_t object_call(const struct object *object, uint64_t address);
/* The unit of an address; NULL: there is no debug information about it. */
struct dwarf_unit *object_unit_at(struct object *object, uint64_t address);
/* false: it cannot be read. */
bool object_unit_open(struct object *object, struct dwarf_unit *unit,
		      struct object_unit *opened);
void object_unit_close(struct object_unit *opened);

#endif
