/*
 * dwarf_split.h: debug information outside the program (-gsplit-dwarf): a .dwo
 * file for each unit, or all in one .dwp.
 *
 * Thread context: one thread opens a package; any thread reads it.
 */
#ifndef GNOMON_DWARF_SPLIT_H
#define GNOMON_DWARF_SPLIT_H

#include "cli/symbol/dwarf/dwarf.h"

/* A .dwp; NULL: not a .dwp, or of an unknown version. Takes over the file
 * unless it returns NULL. */
struct dwarf_package;
struct dwarf_package *dwarf_package_open(struct elffile *file);
void dwarf_package_close(struct dwarf_package *package);

/*
 * The part of a package for a unit with dwo_name; NULL: not in the package.
 */
struct dwarf *dwarf_package_find(struct dwarf_package *package,
				 struct dwarf_unit *skeleton);
/*
 * The same for a .dwo file, which must live longer. NULL: it is from another
 * compilation; then *found is the id of a unit in it, 0 if there is none.
 */
struct dwarf *dwarf_split_open(struct elffile *file,
			       struct dwarf_unit *skeleton, uint64_t *found);
/* The unit that belongs to the skeleton; NULL: there is none. */
struct dwarf_unit *dwarf_split_unit(struct dwarf *split);

#endif
