/*
 * parts_open.h: what a part of a trace begins with. Private to parts.c; the
 * writer only.
 */
#ifndef GNOMON_PARTS_OPEN_H
#define GNOMON_PARTS_OPEN_H

#include "cli/recorder/books/parts.h"

/* Of a chunk LIVE: its columns, one after the other. */
#define PARTS_LIVE 16384	/* blocks */
#define PARTS_LIVE_COLUMNS 5
#define PARTS_LIVE_MAX 11	/* bytes of an entry in a column */
#define PARTS_COLUMN ((PARTS_LIVE + 1) * PARTS_LIVE_MAX)
#define PARTS_COLUMNS (PARTS_LIVE_COLUMNS * PARTS_COLUMN)

/* Header and file are there. */
void parts_write_opening(struct parts *parts);

/* What the newest part began with leaves no room: recording ends. */
void parts_say_small(struct parts *parts);

#endif
