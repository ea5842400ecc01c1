/*
 * parts_open.h: the opening of a part: what it needs to be read alone. Private
 * to parts.c; the writer only.
 */
#ifndef GNOMON_PARTS_OPEN_H
#define GNOMON_PARTS_OPEN_H

#include "cli/recorder/books/parts.h"

/* Limits of a LIVE chunk and its columns. */
#define PARTS_LIVE 16384	/* blocks */
#define PARTS_LIVE_COLUMNS 5
#define PARTS_LIVE_MAX 11	/* bytes of an entry in a column */
#define PARTS_COLUMN ((PARTS_LIVE + 1) * PARTS_LIVE_MAX)
#define PARTS_COLUMNS (PARTS_LIVE_COLUMNS * PARTS_COLUMN)

/* The file is open and has its header. */
void parts_write_opening(struct parts *parts);

/* Ends the recording: the opening of the newest part leaves no room. */
void parts_say_small(struct parts *parts);

#endif
