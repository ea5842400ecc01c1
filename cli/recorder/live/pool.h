/*
 * pool.h: rings, from the live mapping to a thread and back.
 *
 *	        pool_refill           pool_take             pool_close
 *	(none) ────────────▶ free ────────────▶ ACTIVE ────────────▶ free
 *	        writer                thread                writer, drained
 *
 * The writer owns all memory of rings. It keeps some ready on two free lists
 * (primary, nested), from which threads take without a lock or a wait; only a
 * thread that finds its list empty wakes the writer and waits (pool_take.h).
 */
#ifndef GNOMON_POOL_H
#define GNOMON_POOL_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/live/live.h"

#define POOL_CLASS_MIN 12	/* 4 KiB: smallest ring, in powers of two */
#define POOL_CLASS_MAX 22	/* 4 MiB */
#define POOL_CLASSES (POOL_CLASS_MAX - POOL_CLASS_MIN + 1)

/* The writer's books. */
struct pool {
	struct recording *r;
	struct live *live;
	uint64_t used;		/* of the data region, bytes */
	uint64_t free_offset[POOL_CLASSES];	/* lists; 0 ends one */
	uint64_t *links_of;	/* of blocks in them, by page; NULL: no memory */
	uint32_t links;		/* ids that may be in the free lists, */
	uint32_t places;	/* in the table of rings */
	uint32_t ahead[RECORDER_POOLS];	/* to be kept ready */
	uint32_t first_class;	/* of a new thread's ring */
	bool main_given;
};

void pool_init(struct pool *pool, struct recording *r, struct live *live,
	       uint64_t ring_bytes);
void pool_refill(struct pool *pool);

/* A drained ring whose owner is gone goes back, for its next generation. */
void pool_close(struct pool *pool, uint32_t id);

/*
 * A drained ring whose owner waits gets more room, if there is some; its
 * generation changes. The caller holds it (feed.c, waiting == 2). Whether.
 */
bool pool_grow(struct pool *pool, uint32_t id);

/* The pages of a ring that is filled up to `head` are made ready, if it is used for
 * more than a page; once. */
void pool_ready(struct pool *pool, uint32_t id, uint64_t head);

/* What is in use and in the free lists lies in the data region. With
 * GNOMON_CLAIMS. */
bool pool_is_valid(const struct pool *pool);

#endif
