/*
 * rest.h: blocks that were never recorded, by choice (aside.h, THE REST): the
 * sums of what threads have counted, each for itself, in the live mapping.
 * The target's threads and the writer, which knows by itself
 * where they are.
 */
#ifndef GNOMON_REST_H
#define GNOMON_REST_H

#include <stdint.h>

#include "preload/ring/shared.h"

/* Adds what one thread has counted. */
void rest_add(const struct gl_thread *thread,
	      uint64_t sums[GT_CLASSES][GT_REST_VALUES]);

typedef struct gl_thread *rest_thread_of(const struct gl_shared *shared,
					 uint32_t ring);

/* Over all threads so far; thread_of: live_map_thread. While threads count, a sum
 * may have a block and not its bytes. Threads of the target. */
void rest_sum(struct gl_header *live, const struct gl_shared *shared,
	      rest_thread_of *thread_of,
	      uint64_t sums[GT_CLASSES][GT_REST_VALUES]);

#endif
