/*
 * info.h: the parts of `gnomon info`: what a trace says of itself, the
 * recording, not the program's memory. Called by the main thread.
 *
 * Those for people take `full`: nothing is cut to fit into lines, however long
 * it is. Those for programs write members of the object that is open.
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

/* ---- what the bytes of a trace are used for ---- */

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

/* ---- what the trace says ---- */

/* All of it. `sizes`: NULL: they were not asked for. */
void report_info_text(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      bool full, FILE *out);
void report_info_json(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out);
/* Of its index, where there is one: "index". */
void report_index_text(const char *trace, FILE *out);
void report_index_json(const char *trace, struct json *json);
/* Of its recording, line by line: "info", "counters", "end". */
void report_facts_text(const struct model *model, bool full, FILE *out);
void report_facts_json(struct json *json, const struct model *model);
/* Of what was mapped, by whom. */
void report_maps_text(struct model *model, struct frames *frames, bool full,
		      FILE *out);
void report_maps_json(struct model *model, struct frames *frames,
		      struct json *json);
/* Of mallopt and malloc_trim, where there was a call: "tuning". */
void report_tuning_text(struct model *model, struct frames *frames, bool full,
			FILE *out);
void report_tuning_json(struct model *model, struct frames *frames,
			struct json *json);

/* A stack in a line, for lists in which stacks are secondary: "allocate <
 * parse_file < main": the stack of a context, innermost function first, in at
 * most `width` columns if that is not 0: as many of its functions as fit,
 * " < ..." where there are more. No line's end. */
void report_calls(struct frames *frames, uint32_t node, size_t width,
		  FILE *out);

#endif
