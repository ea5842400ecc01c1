/*
 * last_look.h: the last look at the memory of a process, while it is there: its
 * mappings, a snapshot, its sizes. The process asks for it and waits a moment
 * (ending.h). The writer only.
 */
#ifndef GNOMON_LAST_LOOK_H
#define GNOMON_LAST_LOOK_H

#include <stdbool.h>

struct writer;

/* In each round: takes one if it is asked for; forgets one that was not the
 * last. */
void last_look_step(struct writer *w);

/* The process has ended: what was seen last is written, whether it was asked
 * for or not. Nothing is looked at any more. */
void last_look_finish(struct writer *w);

/* Whether the process has asked for one, and has not gone on since. */
bool last_look_is_last(const struct writer *w);

#endif
