/*
 * dwarf_split.h: debug information that was left out of the program
 * (-gsplit-dwarf): a .dwo file for each unit, or all of them in one .dwp.
 *
 * Thread context: a package is opened by one thread and asked by any.
 */
#ifndef GNOMON_DWARF_SPLIT_H
#define GNOMON_DWARF_SPLIT_H

#include "cli/symbol/dwarf/dwarf.h"

/* A .dwp; NULL: it is none, or of an unknown version. Takes the file over
 * unless it is NULL. */
struct dwarf_package;
struct dwarf_package *dwarf_package_open(struct elffile *file);
void dwarf_package_close(struct dwarf_package *package);

/*
 * The rest of a unit with dwo_name: its part of a package, NULL if that does
 * not have it.
 */
struct dwarf *dwarf_package_find(struct dwarf_package *package,
				 struct dwarf_unit *skeleton);
/*
 * The same of a .dwo file, which must live longer. NULL if it is of another
 * compilation; *found is then the id of a unit in it, 0 if there is none.
 */
struct dwarf *dwarf_split_open(struct elffile *file,
			       struct dwarf_unit *skeleton, uint64_t *found);
/* The unit of these that belongs to the skeleton; NULL: there is none. */
struct dwarf_unit *dwarf_split_unit(struct dwarf *split);

#endif
