/*
 * ring_pool.h: allocates rings in the live mapping to threads, and reclaims
 * them.
 *
 *	        ring_pool_refill           ring_pool_take             ring_pool_close
 *	(none) ────────────▶ free ────────────▶ ACTIVE ────────────▶ free
 *	        recorder              thread                recorder, drained
 *
 * The recorder owns all memory of rings. It keeps some ready on two free lists
 * (primary, nested). Threads take rings from there without a lock or a wait.
 * Only a thread that finds its list empty wakes the recorder and waits
 * (ring_take.h).
 */
#ifndef GNOMON_RING_POOL_H
#define GNOMON_RING_POOL_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/live/live.h"

#define RING_POOL_CLASS_MIN 12	/* 4 KiB: smallest ring, in powers of two */
#define RING_POOL_CLASS_MAX 22	/* 4 MiB */
#define RING_POOL_CLASSES (RING_POOL_CLASS_MAX - RING_POOL_CLASS_MIN + 1)

/* The recorder's bookkeeping. */
struct ring_pool {
	struct recording *r;
	struct live *live;
	uint64_t used;		/* of the data region, bytes */
	uint64_t free_offset[RING_POOL_CLASSES]; /* free lists; 0 ends a list */
	uint64_t *links_of;	/* next free block, by page; NULL: no memory */
	uint32_t links;		/* ids with space reserved in the free lists, */
	uint32_t places;	/* entries used in the table of rings */
	uint32_t ahead[RECORDER_POOLS];	/* rings to keep ready */
	uint32_t first_class;	/* of a new thread's ring */
	bool main_given;
};

void ring_pool_init(struct ring_pool *pool, struct recording *r,
		    struct live *live, uint64_t ring_bytes);
void ring_pool_refill(struct ring_pool *pool);

/* Reclaims a drained ring whose owner has ended, for its next generation. */
void ring_pool_close(struct ring_pool *pool, uint32_t id);

/*
 * Enlarges a drained ring whose owner waits, if there is room, and changes its
 * generation. The caller holds the ring (ring_drain.c, waiting == 2). False:
 * not enlarged.
 */
bool ring_pool_grow(struct ring_pool *pool, uint32_t id);

/* Populates the pages of a ring, once, if `head` shows that more than one page
 * is used. */
void ring_pool_ready(struct ring_pool *pool, uint32_t id, uint64_t head);

/* Rings in use and free blocks lie in the data region. With
 * GNOMON_DEBUG_ASSERTS. */
bool ring_pool_is_valid(const struct ring_pool *pool);

#endif
