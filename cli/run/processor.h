/*
 * processor.h: determines a program's processor by the ELF header. Hostile
 * input.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_PROCESSOR_H
#define GNOMON_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

/* A processor with a port of gnomon, with its names in files, folders and
 * qemu. */
struct processor {
	uint16_t machine;
	uint8_t class, order;
	const char *name;
	const char *triplet;	/* Debian's cross compilers have its files
				 * under /usr/TRIPLET */
};

/* The processor of an ELF file; NULL: no ELF file, or a processor without a
 * port. */
const struct processor *processor_of(const char *path);

/* Whether it is an ELF file for a processor without a port. If so, prints a
 * message that ends with the consequence `so`. */
bool processor_report_unported(const char *path, const char *so);

#endif
