/*
 * cull_queue.h: the queue of waiting events: slots, lists, and writing the
 * oldest events. Private to cull.c; the recorder only.
 */
#ifndef GNOMON_CULL_QUEUE_H
#define GNOMON_CULL_QUEUE_H

#include "cli/recorder/live_blocks/cull.h"

#include "unwind/base/assertion.h"

#define CULL_EVENTS 8192	/* of a chunk */
#define CULL_RECORDS (CULL_EVENTS * GL_RECORD_MAX)

static inline struct cull_slot *cull_slot(const struct cull *cull,
					  uint32_t number)
{
	DEBUG_ASSERT((number + UINT64_C(1)) * sizeof(struct cull_slot) <=
		     cull->slots.ready);
	return (struct cull_slot *)cull->slots.at + number;
}

static inline struct cull_undecided *cull_undecided(const struct cull *cull,
						    uint32_t i)
{
	DEBUG_ASSERT((i + UINT64_C(1)) * sizeof(struct cull_undecided) <=
		     cull->undecided.ready);
	return (struct cull_undecided *)cull->undecided.at + i;
}

/* Whether there is memory for `n` more slots. */
bool cull_room(struct cull *cull, uint32_t n);

/* Takes a slot that is in no list; cull_room was true. */
uint32_t cull_take(struct cull *cull);

/* Appends a slot to the queue. Only its links, ring and serial are set. */
uint32_t cull_append(struct cull *cull, uint32_t ring);

/* Sets the slot's stamp. */
void cull_stamp(struct cull *cull, uint32_t number, uint64_t tick);

static inline void cull_copy(struct cull_slot *slot, const uint64_t *word)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		slot->word[i] = word[i];
}

/* Removes the slot from the queue; holes on both sides of it become one. */
void cull_remove(struct cull *cull, uint32_t number);

/* Merges two neighbours of a ring (0 for none) if both are holes that can be
 * one; the second slot is freed. */
void cull_join(struct cull *cull, uint32_t first, uint32_t second);

/* Serial number of the last slot older than the tick, or 0; of the n-th
 * slot. */
uint64_t cull_older(const struct cull *cull, uint64_t tick);
uint64_t cull_nth(const struct cull *cull, uint32_t n);

/* Writes all slots up to a serial number. */
void cull_write(struct cull *cull, uint64_t serial);

/* Writes the holes at the start of each ring. Then all allocations before them
 * are accounted for, even if all processes are killed. */
void cull_write_holes(struct cull *cull);

/* Measures the length of a tick again. */
void cull_measure(struct cull *cull);
uint64_t cull_ns(const struct cull *cull, uint64_t ticks);

/* The queue is in order, and each slot is in it or unused. With
 * GNOMON_DEBUG_ASSERTS. */
bool cull_is_valid(const struct cull *cull);

#endif
