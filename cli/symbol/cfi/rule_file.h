/*
 * rule_file.h: writes the files that unwind/image/rule_files.h reads: rules for code
 * of an image that none of its own tables covers, as standard DWARF in a small
 * ELF file of the image's own kind. readelf can show them.
 */
#ifndef GNOMON_RULE_FILE_H
#define GNOMON_RULE_FILE_H

#include "cli/symbol/cfi/generated_rules.h"

/* The path of the file for a build-id; the caller frees it. */
char *rule_file_path(const char *directory, const uint8_t *id,
		     uint32_t id_size);

/* Composes the file. */
void rule_file_bytes(const struct binary *binary,
		     const struct generated_rules *made, struct buffer *bytes);

/* Atomically replaces an older file. 0 or -errno. */
int rule_file_write(const char *path, const struct buffer *bytes);

#endif
