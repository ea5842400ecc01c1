/*
 * section.h: one section of an ELF file, found by name. For images whose
 * unwind table is not announced by a program header, so that only the file's
 * section headers say where it lies.
 */
#ifndef GNOMON_UNWIND_SECTION_H
#define GNOMON_UNWIND_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Link-time address and size of the first section of this name that is mapped
 * when the program runs. path "": the running program's own file. False: no
 * such file or section, or the file does not make sense. Opens the file
 * for a moment; any thread.
 */
bool section_find(const char *path, const char *name, uint64_t *address,
		  uint64_t *size);

/* A descriptor of what is a file without any doubt; "": the running program's
 * own. Or -errno. The caller sees to it that this may be done (unwind_may). */
int section_open(const char *path);

/* How many of n bytes of it are there, from an offset on. */
size_t section_read(int fd, uint64_t offset, void *to, size_t n);

#endif
