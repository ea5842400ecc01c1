/*
 * rule_files.h: rules made ahead of time, for code that no table of its image
 * covers. A directory has a file for each image, named by its build id in hex
 * digits, with .cfi behind: an ELF file of the target's own kind
 *
 *	PT_NOTE   the image's build id, as in the image
 *	PT_LOAD   records as in .eh_frame; they name code by its address in
 *	          the image's file (textrel; absolute where that is mapped
 *	          where it says)
 *
 * `gnomon cfi prepare` writes them. They may hold anything: what does not make
 * sense from end to end is left out as a whole.
 */
#ifndef GNOMON_UNWIND_RULE_FILES_H
#define GNOMON_UNWIND_RULE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi.h"

#define RULE_FILES_PATH_MAX 4096
#define RULE_FILES_SIZE_MAX (32u << 20)	/* bytes of one */

/* Where they are; NULL or "": nowhere. `refused`, unless it is NULL, is told of
 * the first file that makes no sense. Both stay the caller's. Before there are
 * other threads, and again in a forked child. */
void rule_files_init(const char *directory, void (*refused)(const char *path));

/*
 * The tables of the image with this build id and bias. False: there are none,
 * or no memory. Reads the file, into memory that is never given back; any
 * thread, also signal handlers.
 */
bool rule_files_find(const uint8_t *id, uint32_t id_size, uintptr_t bias,
		     struct cfi_tables *tables);

/* The same of a file's bytes, which stay where they are. 0, -EINVAL, -ENOMEM. */
int rule_files_tables(const uint8_t *bytes, size_t size, const uint8_t *id,
		      uint32_t id_size, uintptr_t bias,
		      struct cfi_tables *tables);

#endif
