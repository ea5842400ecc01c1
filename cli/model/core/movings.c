/*
 * movings.c: see movings.h. A hash table with as many buckets as lanes; each
 * bucket is a list of lanes.
 *
 *  I1  A lane is in the bucket of its address, or in none.
 *
 * Called by the reader's thread, or the recorder's writer.
 */
#include "cli/model/core/movings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/hash.h"
#include "cli/base/room.h"
#include "unwind/claim.h"

#define BITS_MIN 6

static uint32_t *bucket_of(const struct movings *movings, uint64_t address)
{
	CLAIM_FULL(movings->bits >= BITS_MIN && movings->bits < 64);
	return &movings->buckets[hash_number(address) >> (64 - movings->bits)];
}

static void link_lane(struct movings *movings, uint32_t lane)
{
	struct movings_lane *entry = &movings->lanes[lane];
	uint32_t *bucket = bucket_of(movings, entry->address);

	CLAIM_FULL((size_t)lane >> movings->bits == 0);
	entry->next = *bucket;
	*bucket = lane + 1;
}

#ifdef GNOMON_CLAIMS
bool movings_is_valid(const struct movings *movings)
{
	size_t count = movings->bits ? (size_t)1 << movings->bits : 0;
	size_t linked = 0;

	for (size_t i = 0; i < count; i++)
		for (uint32_t at = movings->buckets[i]; at != 0;
		     at = movings->lanes[at - 1].next)
			if (at > count || linked++ == count ||
			    bucket_of(movings, movings->lanes[at - 1].address) !=
				    &movings->buckets[i])
				return false;	/* I1 */
	return true;
}
#endif

/* Grows both to 2^bits. */
static bool grow(struct movings *movings, unsigned bits)
{
	size_t old = movings->bits ? (size_t)1 << movings->bits : 0;
	size_t count = (size_t)1 << bits;
	uint32_t *buckets = calloc(count, sizeof(*buckets)), *before;
	struct movings_lane *lanes = buckets == NULL ? NULL :
		room_resize(movings->lanes, count, sizeof(*lanes));

	CLAIM_FULL(bits > movings->bits);
	if (lanes == NULL) {
		free(buckets);
		return false;
	}
	memset(lanes + old, 0, (count - old) * sizeof(*lanes));
	before = movings->buckets;
	*movings = (struct movings){ lanes, buckets, bits };
	for (size_t i = 0; i < old; i++)
		for (uint32_t at = before[i], next; at != 0; at = next) {
			next = lanes[at - 1].next;
			link_lane(movings, at - 1);
		}
	free(before);
	CLAIM_FULL(movings_is_valid(movings));
	return true;
}

bool movings_reach(struct movings *movings, uint32_t lane)
{
	unsigned bits = movings->bits ? movings->bits : BITS_MIN;

	while ((size_t)lane >> bits != 0)
		bits++;
	return bits == movings->bits || grow(movings, bits);
}

void movings_add(struct movings *movings, uint32_t lane, uint64_t address)
{
	assert(movings->bits > 0 && (size_t)lane >> movings->bits == 0);
	CLAIM_FULL(movings_find(movings, address) == MOVINGS_NONE);
	movings->lanes[lane].address = address;
	link_lane(movings, lane);
	CLAIM_FULL(movings_find(movings, address) == lane);
}

void movings_remove(struct movings *movings, uint32_t lane)
{
	struct movings_lane *entry = &movings->lanes[lane];
	uint32_t *at = bucket_of(movings, entry->address);

	assert((size_t)lane >> movings->bits == 0);
	while (*at != lane + 1) {
		assert(*at != 0);	/* I1 */
		at = &movings->lanes[*at - 1].next;
	}
	*at = entry->next;
}

uint32_t movings_find(const struct movings *movings, uint64_t address)
{
	uint32_t at;

	if (movings->bits == 0)
		return MOVINGS_NONE;
	for (at = *bucket_of(movings, address); at != 0;
	     at = movings->lanes[at - 1].next)
		if (movings->lanes[at - 1].address == address)
			break;
	CLAIM_FULL(at == 0 || (size_t)(at - 1) >> movings->bits == 0);
	return at - 1;
}

void movings_free(struct movings *movings)
{
	free(movings->lanes);
	free(movings->buckets);
	memset(movings, 0, sizeof(*movings));
}
