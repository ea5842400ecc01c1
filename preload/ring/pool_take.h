/*
 * pool_take.h: a ring for a thread of the target.
 */
#ifndef GNOMON_POOL_TAKE_H
#define GNOMON_POOL_TAKE_H

#include "preload/ring/recorder.h"

/* Any thread, also in signal handlers. An id + 1; 0: there is no memory for
 * more, or the writer does not move. */
uint32_t pool_take(struct recorder *r, enum recorder_pool which);

/* No free list leads outside, or in a circle. With GNOMON_CLAIMS. */
bool pool_list_is_valid(const struct gl_shared *shared,
			enum recorder_pool which);

#endif
