/*
 * processor.h: which processor a program is for, by the first bytes of its file,
 * which may be anything.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_PROCESSOR_H
#define GNOMON_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

/* One that there is a port to, as files, folders and qemu call it. */
struct processor {
	uint16_t machine;
	uint8_t class, order;
	const char *name;
	const char *triplet;	/* Debian's cross compilers have its files
				 * under /usr/TRIPLET */
};

/* Of an ELF file; NULL: it is none, or for a processor without a port. */
const struct processor *processor_of(const char *path);

/* Whether it is an ELF file for a processor without a port; then that is told,
 * and what follows from it. */
bool processor_tell_unported(const char *path, const char *so);

#endif
