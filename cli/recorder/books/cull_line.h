/*
 * cull_line.h: the line that events wait in: slots, lists, and writing what is
 * first. Private to cull.c; the writer only.
 */
#ifndef GNOMON_CULL_LINE_H
#define GNOMON_CULL_LINE_H

#include "cli/recorder/books/cull.h"

#include "unwind/claim.h"

#define CULL_EVENTS 8192	/* of a chunk */
#define CULL_RECORDS (CULL_EVENTS * GL_RECORD_MAX)

static inline struct cull_slot *cull_slot(const struct cull *cull,
					  uint32_t number)
{
	CLAIM_FULL((number + UINT64_C(1)) * sizeof(struct cull_slot) <=
		   cull->slots.ready);
	return (struct cull_slot *)cull->slots.at + number;
}

static inline struct cull_doubt *cull_doubt(const struct cull *cull,
					    uint32_t i)
{
	CLAIM_FULL((i + UINT64_C(1)) * sizeof(struct cull_doubt) <=
		   cull->doubts.ready);
	return (struct cull_doubt *)cull->doubts.at + i;
}

/* Whether there is memory for `n` slots more. */
bool cull_room(struct cull *cull, uint32_t n);

/* A slot in no list; there is room for it. */
uint32_t cull_take(struct cull *cull);

/* A slot at the end of the line. Only its links, ring and serial are set. */
uint32_t cull_append(struct cull *cull, uint32_t ring);

/* Gives it its stamp. */
void cull_stamp(struct cull *cull, uint32_t number, uint64_t tick);

static inline void cull_copy(struct cull_slot *slot, const uint64_t *word)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		slot->word[i] = word[i];
}

/* Out of the line; holes on both sides of it become one. */
void cull_remove(struct cull *cull, uint32_t number);

/* Two neighbours in a ring, 0 for none: if both are holes that may be one,
 * the second goes. */
void cull_join(struct cull *cull, uint32_t first, uint32_t second);

/* Serial number of the last slot that is older than the tick, 0; of the n-th. */
uint64_t cull_older(const struct cull *cull, uint64_t tick);
uint64_t cull_nth(const struct cull *cull, uint32_t n);

/* Writes all up to a serial number. */
void cull_write(struct cull *cull, uint64_t serial);

/* Writes the holes that rings begin with: what came before is accounted for
 * then, should everything be killed. */
void cull_write_holes(struct cull *cull);

/* How long a tick is by now. */
void cull_measure(struct cull *cull);
uint64_t cull_ns(const struct cull *cull, uint64_t ticks);

/* The line is in order, and all slots are in it or unused. With
 * GNOMON_CLAIMS. */
bool cull_is_valid(const struct cull *cull);

#endif
