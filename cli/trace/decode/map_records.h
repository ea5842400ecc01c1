/*
 * map_records.h: decode MAPS chunks: the kernel's list of mappings
 * (/proc/PID/maps), as differences (trace_format.h).
 */
#ifndef GNOMON_MAP_RECORDS_H
#define GNOMON_MAP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/cursor.h"
#include "cli/trace/format/trace_format.h"

struct trace_maps {
	uint32_t flags;		/* enum gt_maps_flags */
	uint64_t since;		/* ticks: start of the previous reading */
	uint64_t begun;		/* start of this reading */
	uint64_t ended;		/* end of this part of it */
	uint64_t top;		/* unknown from this address on; 0: all known */
};

struct trace_map {
	uint64_t start, end;
	uint64_t offset;
	uint64_t device;	/* major << 32 | minor */
	uint64_t inode;
	const char *path;	/* points into the payload; not terminated */
	size_t path_size;
	uint32_t is;		/* enum gt_maps_is, without GT_MAPS_AGAIN */
	uint32_t what;		/* enum gt_maps_what */
};

/* False: the payload is malformed. */
bool map_records_head(struct cursor *c, struct trace_maps *head);

/* The next record. `map` holds the record before; zero it first. False: no more
 * records, or c->bad is set. */
bool map_records_next(struct cursor *c, struct trace_map *map);

#endif
