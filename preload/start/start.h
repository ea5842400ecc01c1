/*
 * start.h: the recording's end, as the library sees it. Its start is for whoever
 * comes first (recorder.h).
 */
#ifndef GNOMON_START_H
#define GNOMON_START_H

/* The program is about to end: the writer looks more often. Events after it
 * are still recorded. */
void start_leave(void);

#endif
