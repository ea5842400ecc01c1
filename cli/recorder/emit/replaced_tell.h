/*
 * replaced_tell.h: the writer's half of replaced.h. The writer only.
 */
#ifndef GNOMON_REPLACED_TELL_H
#define GNOMON_REPLACED_TELL_H

#include <stdbool.h>

#include "preload/ring/shared.h"

/* Code lay in [start, end). False: there is no room, try again later. */
bool replaced_tell(struct gl_shared *shared, uint64_t start, uint64_t end);

/* Has a thread look, if there is something it has not taken: to be called again
 * and again. */
void replaced_ask(struct gl_shared *shared);

#endif
