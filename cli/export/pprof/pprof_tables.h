/*
 * pprof_tables.h: the tables of a pprof profile: strings, functions, locations
 * (places in code) and mappings. Entries are collected as they occur and
 * written afterwards, since a mapping has flags about all its locations.
 *
 * Strings and mappings are numbered from 0, as written. Functions and locations
 * are too, but their ids are one more, since id 0 means none. Called by the
 * main thread.
 */
#ifndef GNOMON_PPROF_TABLES_H
#define GNOMON_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/export/pprof/pprof_out.h"
#include "cli/stack/frames.h"

struct pprof_mapping {
	uint64_t start, limit, offset;
	uint32_t filename, build_id;	/* texts */
	bool functions, files, lines, inlined;	/* known for all its
						 * locations */
};

struct pprof_line {
	uint32_t function;
	uint32_t line, column;
};

struct pprof_location {
	uint64_t address;
	uint32_t mapping;
	uint32_t first_line, line_count;
};

struct pprof_tables {
	struct frames *frames;
	uint64_t page_size;
	struct intern texts;
	struct table mapping_of;	/* image, segment -> number */
	uint32_t nowhere;		/* mapping for code outside files; or
					 * TABLE_NONE */
	struct pprof_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct pairset names;		/* (name, system_name), texts */
	struct pairset sources;		/* (filename, a text; start_line) */
	struct pairset functions;	/* (names, sources) */
	struct pprof_line *lines;
	size_t line_count, line_capacity;
	struct intern location_keys;	/* descriptions */
	struct pprof_location *locations;
	size_t location_count, location_capacity;
	uint32_t *of_place;		/* by place: location + 1; 0: not
					 * determined yet, or none */
	size_t place_capacity;
	struct buffer scratch;
};

/* The first mapping is the program's. */
void pprof_tables_init(struct pprof_tables *tables, struct frames *frames);
void pprof_tables_free(struct pprof_tables *tables);

uint32_t pprof_text(struct pprof_tables *tables, const char *text);
/* The location of a place; TABLE_NONE: the profiler's own code. */
uint32_t pprof_location(struct pprof_tables *tables, uint32_t place);
/* A pseudo-location for the end of a stack whose walk stopped early because of
 * `why`. */
uint32_t pprof_location_stop(struct pprof_tables *tables, const char *why);

/* Write all tables; nothing may be added afterwards. */
void pprof_tables_write(struct pprof_tables *tables, struct pprof_out *out);

#endif
