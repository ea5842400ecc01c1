/*
 * rotation_open.h: the opening of a part: what it needs to be read alone.
 * Private to rotation.c; the recorder only.
 */
#ifndef GNOMON_ROTATION_OPEN_H
#define GNOMON_ROTATION_OPEN_H

#include "cli/recorder/live_blocks/rotation.h"

/* Limits of a LIVE chunk and its columns. */
#define ROTATION_LIVE 16384	/* blocks */
#define ROTATION_LIVE_COLUMNS 5
#define ROTATION_LIVE_MAX 11	/* bytes of an entry in a column */
#define ROTATION_COLUMN ((ROTATION_LIVE + 1) * ROTATION_LIVE_MAX)
#define ROTATION_COLUMNS (ROTATION_LIVE_COLUMNS * ROTATION_COLUMN)

/* The file is open and has its header. */
void rotation_write_opening(struct rotation *rotation);

/* Ends the recording: the opening of the newest part leaves no room. */
void rotation_report_small(struct rotation *rotation);

#endif
