/*
 * parts.h: trace rotation (--limit): keeps the newest parts of a recording,
 * each a complete trace file. The writer only.
 *
 * FILE is the newest part, FILE.part3 the one before it, FILE.part2 …
 */
#ifndef GNOMON_PARTS_H
#define GNOMON_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/emit/emit_totals.h"
#include "cli/trace/format/trace_format.h"

struct writer;

#define PARTS_KEPT 4		/* the newest one included */

struct parts {
	struct writer *w;
	uint64_t limit;		/* of all parts; 0: no --limit */
	uint64_t share;		/* of one part */
	uint64_t number;	/* of the part being written, from 1 */
	uint64_t oldest;	/* of the parts that exist */
	uint64_t size[PARTS_KEPT];	/* by number modulo, once closed */
	uint64_t beside;	/* size of FILE.files (embed_out.h) */
	uint64_t opening;	/* size of the newest part's opening */
	struct emit_totals emit;
	uint8_t *columns;	/* buffer for live blocks */
	bool rolling;
	bool linked;		/* during rotation, the old part had both
				 * names */
	uint32_t late;		/* checks that found a pending realloc */
	bool told_live;		/* reported that live blocks are left out */
};

/* 0 or -errno, with the recorder's message set. */
int parts_init(struct parts *parts, struct writer *w);

/* Begins another part if this one is full. May write all records that were
 * taken from rings, but takes no more. */
void parts_look(struct parts *parts);

/* Makes room for `bytes` in FILE.files by removing old parts. */
void parts_beside(struct parts *parts, uint64_t bytes);

/* How many events may be taken before the next parts_look. */
uint32_t parts_step(const struct parts *parts);

#endif
