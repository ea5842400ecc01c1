/*
 * section.h: one section of an ELF file, found by name. For images whose
 * unwind table is not announced by a program header, so that only the file's
 * section headers say where it lies.
 */
#ifndef GNOMON_UNWIND_SECTION_H
#define GNOMON_UNWIND_SECTION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Link-time address and size of the first section of this name that is mapped
 * when the program runs. path "": the running program's own file. False: no
 * such file or section, or the file does not make sense. Opens the file
 * for a moment; any thread.
 */
bool section_find(const char *path, const char *name, uint64_t *address,
		  uint64_t *size);

#endif
