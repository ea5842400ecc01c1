/*
 * info.h: the parts of `gnomon info`: facts about a trace and its recording,
 * not about the program's memory. Called by the main thread.
 *
 * Text functions take `full`: do not cut long values to fit a line. JSON
 * functions write members of the open object.
 */
#ifndef GNOMON_INFO_H
#define GNOMON_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/model/model.h"
#include "cli/stack/frames.h"
#include "cli/trace/read/reader.h"

/* ---- sizes: how the bytes of a trace are used ---- */

struct info_size {
	uint64_t count;		/* chunks; of a column: 0 */
	uint64_t bytes;		/* in the file, headers included */
	uint64_t raw;		/* decompressed */
};

struct info_sizes {
	struct info_size types[READER_TYPES];	/* 0: unknown types */
	struct info_size events[COLUMNS_MAX];	/* columns of EVENTS */
	struct info_size nodes[COLUMNS_MAX];	/* of CONTEXT */
	uint64_t event_count, node_count;
	uint64_t file_bytes;
};

/* Reads the trace without decompressing it, and without messages about errors.
 * False: it cannot be read, or not a second time. */
bool info_sizes_read(struct info_sizes *sizes, const char *trace);
void info_sizes_text(const struct info_sizes *sizes, FILE *out);
void info_sizes_json(const struct info_sizes *sizes, struct json *json);

/* ---- facts of the trace ---- */

/* The whole output. `sizes`: NULL: not requested. */
void report_info_text(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      bool full, FILE *out);
void report_info_json(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out);
/* Its index, if there is one: "index". */
void report_index_text(const char *trace, FILE *out);
void report_index_json(const char *trace, struct json *json);
/* The recording, line by line: "info", "counters", "end". */
void report_facts_text(const struct model *model, bool full, FILE *out);
void report_facts_json(struct json *json, const struct model *model);
/* Mappings, and who made them. */
void report_maps_text(struct model *model, struct frames *frames, bool full,
		      FILE *out);
void report_maps_json(struct model *model, struct frames *frames,
		      struct json *json);
/* Calls of mallopt and malloc_trim, if any: "tuning". */
void report_tuning_text(struct model *model, struct frames *frames, bool full,
			FILE *out);
void report_tuning_json(struct model *model, struct frames *frames,
			struct json *json);

/* A stack in one line, for lists with secondary stacks: "allocate < parse_file
 * < main": a context's functions, innermost first. If `width` is not 0, as many
 * functions as fit into `width` columns, then " < ...". No line end. */
void report_calls(struct frames *frames, uint32_t node, size_t width,
		  FILE *out);

#endif
