/*
 * rotation.h: trace rotation (--limit): keeps the newest parts of a recording,
 * each a complete trace file. The recorder only.
 *
 * FILE is the newest part, FILE.part3 the one before it, FILE.part2 …
 */
#ifndef GNOMON_ROTATION_H
#define GNOMON_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/emit/emit_totals.h"
#include "cli/trace/format/trace_format.h"

struct recorder;

#define ROTATION_KEPT 4		/* the newest one included */

struct rotation {
	struct recorder *rec;
	uint64_t limit;		/* of all parts; 0: no --limit */
	uint64_t share;		/* of one part */
	uint64_t number;	/* of the part being written, from 1 */
	uint64_t oldest;	/* of the parts that exist */
	uint64_t size[ROTATION_KEPT];	/* by number modulo, once closed */
	uint64_t beside;	/* size of FILE.files (embed_out.h) */
	uint64_t opening;	/* size of the newest part's opening */
	struct emit_totals emit;
	uint8_t *columns;	/* buffer for live blocks */
	bool rolling;
	bool linked;		/* during rotation, the old part had both
				 * names */
	uint32_t late;		/* checks that found a pending realloc */
	bool reported_live;	/* reported that live blocks are left out */
};

/* 0 or -errno, with the recorder's message set. */
int rotation_init(struct rotation *rotation, struct recorder *rec);

/* Begins another part if this one is full. May write all records that were
 * taken from rings, but takes no more. */
void rotation_poll(struct rotation *rotation);

/* Makes room for `bytes` in FILE.files by removing old parts. */
void rotation_beside(struct rotation *rotation, uint64_t bytes);

/* How many events may be taken before the next rotation_poll. */
uint32_t rotation_step(const struct rotation *rotation);

#endif
