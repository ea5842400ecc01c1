/*
 * replaced_tell.h: reports replaced code to hooks (the writer's half of
 * replaced.h). The writer only.
 */
#ifndef GNOMON_REPLACED_TELL_H
#define GNOMON_REPLACED_TELL_H

#include <stdbool.h>

#include "preload/ring/shared.h"

/* Reports that code in [start, end) was replaced. False: no room, try again
 * later. */
bool replaced_tell(struct gl_shared *shared, uint64_t start, uint64_t end);

/* Requests that a thread reads the reported ranges, if any is unread. Call
 * repeatedly. */
void replaced_ask(struct gl_shared *shared);

#endif
