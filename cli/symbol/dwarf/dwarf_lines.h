/*
 * dwarf_lines.h: the line table of one unit (.debug_line, DWARF 2 to 5).
 *
 * Thread context: any; one thread at a time for each table.
 */
#ifndef GNOMON_DWARF_LINES_H
#define GNOMON_DWARF_LINES_H

#include "cli/base/text/buffer.h"
#include "cli/symbol/dwarf/dwarf.h"

struct dwarf_row {
	uint64_t address;
	uint32_t file;
	uint32_t line;
	uint32_t column;
};

/* Rows with ascending addresses; the last row only marks the end. */
struct dwarf_sequence {
	uint64_t low;
	uint64_t high;
	size_t first;
	size_t count;
};

struct dwarf_file {
	const char *name;
	uint64_t directory;
};

struct dwarf_lines {
	struct dwarf_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct dwarf_sequence *sequences;	/* by low */
	size_t sequence_count;
	size_t sequence_capacity;
	struct dwarf_file *files;	/* by the numbers in rows */
	size_t file_count;
	size_t file_capacity;
	const char **directories;
	size_t directory_count;
	size_t directory_capacity;
	const char *unit_directory;	/* NULL: unknown */
};

/* The table of a unit, or of the unit that it is split from, up to the first
 * damage. */
void dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_unit *unit);
void dwarf_lines_free(struct dwarf_lines *lines);

/* NULL: no row covers the address. */
const struct dwarf_row *dwarf_lines_at(const struct dwarf_lines *lines,
				       uint64_t address);
/* Appends a file's path, as far as it is known; false: no such file. */
bool dwarf_lines_path(const struct dwarf_lines *lines, uint64_t file,
		      struct buffer *path);

/* Sequences are sorted, and each has its number of rows, which ascend. With
 * GNOMON_DEBUG_ASSERTS. */
bool dwarf_lines_is_valid(const struct dwarf_lines *lines);

#endif
