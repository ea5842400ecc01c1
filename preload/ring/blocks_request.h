/*
 * blocks_request.h: queries of the live heap by threads of the target. The
 * recorder answers after it has read everything that was recorded before the
 * query; that takes some 0.1 ms, for which the thread waits.
 */
#ifndef GNOMON_BLOCKS_REQUEST_H
#define GNOMON_BLOCKS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Why the live heap is needed. */
enum blocks_user {
	BLOCKS_FOR_API = 1,	/* the program reads its own numbers */
	BLOCKS_FOR_CULL = 2,
	BLOCKS_FOR_ROTATION = 4,
	BLOCKS_FOR_STATS = 8,
	BLOCKS_FOR_TOTALS = 16	/* totals instead of events */
};

/* Kinds of query. None includes blocks of custom heaps. */
enum blocks_request_kind {
	BLOCKS_REQUEST_SUM,	/* struct gnomon_summary, of all threads */
	BLOCKS_REQUEST_THREAD,	/* the same for the thread of one ring */
	BLOCKS_REQUEST_CLASSES	/* struct gnomon_sizes */
};

struct producer;

/*
 * From now on the live heap is needed; blocks allocated before are not in it.
 * Any thread of the target, also in handlers.
 */
void blocks_want(struct producer *p, uint32_t why);

/* Whether the calling thread is in a handler that interrupted a hook: then the
 * recorder does not wait for that hook's event. */
bool blocks_nested(void);

/*
 * Lets the recorder fill a structure that is zero. 0; -ENOMEM: there was no
 * memory for some blocks, and the answer lacks them; -ETIMEDOUT: no recorder
 * can answer. Call blocks_want with BLOCKS_FOR_API early. Threads of the target
 * outside of hooks.
 */
int blocks_request(struct producer *p, enum blocks_request_kind what,
		   uint32_t ring, void *answer, uint32_t bytes);

#endif
