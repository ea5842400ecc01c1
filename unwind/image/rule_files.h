/*
 * rule_files.h: reads unwind rules made ahead of time, for code that its
 * image's tables do not cover. A directory holds one file for each image, named
 * by its build id in hex digits with the suffix .cfi: an ELF file of the
 * target's own kind
 *
 *	PT_NOTE   the image's build id, as in the image
 *	PT_LOAD   records as in .eh_frame, with code addresses of the image's
 *	          file (textrel; absolute if the image is mapped where its
 *	          file says)
 *
 * `gnomon cfi prepare` writes these files. Their content is untrusted: a file
 * with any malformed part is ignored as a whole.
 */
#ifndef GNOMON_UNWIND_RULE_FILES_H
#define GNOMON_UNWIND_RULE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rules/cfi.h"

#define RULE_FILES_PATH_MAX 4096
#define RULE_FILES_SIZE_MAX (32u << 20)	/* bytes of one */

/* Sets the directory; NULL or "": none. `refused`, unless it is NULL, is called
 * with the first malformed file. The caller keeps both alive. Call it before
 * there are other threads, and again in a forked child. */
void rule_files_init(const char *directory, void (*refused)(const char *path));

/*
 * The tables of the image with this build id and bias. False: none, or no
 * memory. Reads the file into memory that is never freed; any thread, also
 * signal handlers.
 */
bool rule_files_find(const uint8_t *id, uint32_t id_size, uintptr_t bias,
		     struct cfi_tables *tables);

/* The same from a file's bytes, which must stay where they are. 0, -EINVAL,
 * -ENOMEM. */
int rule_files_tables(const uint8_t *bytes, size_t size, const uint8_t *id,
		      uint32_t id_size, uintptr_t bias,
		      struct cfi_tables *tables);

#endif
