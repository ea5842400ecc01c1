/*
 * rule_file.h: writes the files that unwind/rule_files.h reads: rules for the
 * code of an image that no table of its own covers, as standard DWARF in a
 * small ELF file of the image's own kind, which readelf shows.
 */
#ifndef GNOMON_RULE_FILE_H
#define GNOMON_RULE_FILE_H

#include "cli/symbol/cfi/made_rules.h"

/* The file of a build id in a directory, to be freed. */
char *rule_file_path(const char *directory, const uint8_t *id,
		     uint32_t id_size);

/* Its bytes. */
void rule_file_bytes(const struct binary *binary,
		     const struct made_rules *made, struct buffer *bytes);

/* Takes the place of an older file at once. 0 or -errno. */
int rule_file_write(const char *path, const struct buffer *bytes);

#endif
