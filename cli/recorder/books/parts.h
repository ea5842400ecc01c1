/*
 * parts.h: a trace within a size (--limit): its newest parts are kept, each a
 * file that reads alone. The writer only.
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
	uint64_t limit;		/* of all; 0: there are no parts */
	uint64_t share;		/* of one */
	uint64_t number;	/* of the part that is being written, from 1 */
	uint64_t oldest;	/* of those that are there */
	uint64_t size[PARTS_KEPT];	/* by number modulo, once closed */
	uint64_t beside;	/* size of FILE.files (embed_out.h) */
	uint64_t opening;	/* size of what the newest one begins with */
	struct emit_totals emit;
	uint8_t *columns;	/* of live blocks */
	bool rolling;
	bool linked;		/* the old one had both names while it was rolled */
	uint32_t late;		/* looks that found a realloc under way */
	bool told_live;		/* that live blocks are left out */
};

/* 0 or -errno, and the recorder's message says why. */
int parts_init(struct parts *parts, struct writer *w);

/* Begins another part if this one is full. Everything that was taken from
 * rings may be written by it; nothing more is taken. */
void parts_look(struct parts *parts);

/* FILE.files is to have so many bytes: old parts make way. */
void parts_beside(struct parts *parts, uint64_t bytes);

/* How many events may be taken before the next look. */
uint32_t parts_step(const struct parts *parts);

#endif
