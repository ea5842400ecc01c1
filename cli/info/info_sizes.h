/*
 * info_sizes.h: what the bytes of a trace are used for, and how well they
 * compress.
 */
#ifndef GNOMON_INFO_SIZES_H
#define GNOMON_INFO_SIZES_H

#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/trace/read/reader.h"

struct info_size {
	uint64_t count;		/* chunks; of a column: 0 */
	uint64_t bytes;		/* in the file, headers included */
	uint64_t raw;		/* decompressed */
};

struct info_sizes {
	struct info_size types[READER_TYPES];	/* 0: unknown ones */
	struct info_size events[COLUMNS_MAX];	/* columns of EVENTS */
	struct info_size nodes[COLUMNS_MAX];	/* of CONTEXT */
	uint64_t event_count, node_count;
	uint64_t file_bytes;
};

/* Reads the trace, without decompressing it; says nothing about what is wrong
 * with it. False: it cannot be read, or not once more. */
bool info_sizes_read(struct info_sizes *sizes, const char *trace);
void info_sizes_text(const struct info_sizes *sizes, FILE *out);
void info_sizes_json(const struct info_sizes *sizes, struct json *json);

#endif
