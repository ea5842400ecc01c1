/*
 * ring_take.h: takes a ring from the free lists, for a thread of the target.
 */
#ifndef GNOMON_RING_TAKE_H
#define GNOMON_RING_TAKE_H

#include "preload/ring/producer.h"

/* Any thread, also in signal handlers. An id + 1; 0: there is no memory for
 * more rings, or the recorder is stalled. */
uint32_t ring_pool_take(struct producer *p, enum recorder_pool which);

/* Checks that a free list has no bad link and no cycle. With
 * GNOMON_DEBUG_ASSERTS. */
bool ring_list_is_valid(const struct gl_shared *shared,
			enum recorder_pool which);

#endif
