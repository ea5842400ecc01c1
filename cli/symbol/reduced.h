/*
 * reduced.h: an ELF file without what only matters for running it: what is left
 * are symbols, unwind tables, line tables and debug information, in a file that
 * stands for the whole one.
 */
#ifndef GNOMON_REDUCED_H
#define GNOMON_REDUCED_H

#include <stddef.h>
#include <stdint.h>

#define REDUCED_ID_MAX 64

/*
 * Write to `out` (an empty file, read and written) the reduced form of the
 * ELF file `binary`, joined with what its separate debug file `debug` has (-1:
 * it has none). Their offsets are not used. 0, or -errno; -EBADMSG: they are
 * no ELF files that make sense.
 */
int reduced_write(int binary, int debug, int out);

/* The alternate debug file (.gnu_debugaltlink) that the file refers to: its
 * name, to be freed, and its build-id. NULL: it refers to none. */
char *reduced_alternate(int file, uint8_t build_id[REDUCED_ID_MAX],
			size_t *build_id_size);

#endif
