/*
 * section.h: finds a section of an ELF file by name. For images without a
 * program header for their unwind table, so that only the file's section
 * headers give its address.
 */
#ifndef GNOMON_UNWIND_SECTION_H
#define GNOMON_UNWIND_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Link-time address and size of the first section of this name that is mapped
 * when the program runs. path "": the running program's own file. False: no
 * such file or section, or the file is malformed. Opens the file for a moment;
 * any thread.
 */
bool section_find(const char *path, const char *name, uint64_t *address,
		  uint64_t *size);

/* Opens the path if it is a regular file; "": the running program's own. A
 * descriptor or -errno. The caller checks that the system calls are allowed
 * (unwind_may). */
int section_open(const char *path);

/* Reads up to n bytes of the file from an offset; returns how many were
 * read. */
size_t section_read(int fd, uint64_t offset, void *to, size_t n);

#endif
