/*
 * pending_reallocs.c: see pending_reallocs.h. A hash table with as many buckets
 * as lanes; each bucket is a list of lanes.
 *
 *  I1  A lane is in the bucket of its address, or in none.
 *
 * Called by the reader's thread, or the recorder.
 */
#include "cli/model/core/pending_reallocs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/hash.h"
#include "cli/base/try_alloc.h"
#include "unwind/base/assertion.h"

#define BITS_MIN 6

static uint32_t *bucket_of(const struct pending_reallocs *pending_reallocs,
			   uint64_t address)
{
	DEBUG_ASSERT(pending_reallocs->bits >= BITS_MIN &&
		     pending_reallocs->bits < 64);
	return &pending_reallocs->buckets[hash_number(address) >>
					  (64 - pending_reallocs->bits)];
}

static void link_lane(struct pending_reallocs *pending_reallocs, uint32_t lane)
{
	struct pending_reallocs_lane *entry = &pending_reallocs->lanes[lane];
	uint32_t *bucket = bucket_of(pending_reallocs, entry->address);

	DEBUG_ASSERT((size_t)lane >> pending_reallocs->bits == 0);
	entry->next = *bucket;
	*bucket = lane + 1;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool pending_reallocs_is_valid(const struct pending_reallocs *pending_reallocs)
{
	size_t count = pending_reallocs->bits
			       ? (size_t)1 << pending_reallocs->bits
			       : 0;
	size_t linked = 0;

	for (size_t i = 0; i < count; i++)
		for (uint32_t at = pending_reallocs->buckets[i]; at != 0;
		     at = pending_reallocs->lanes[at - 1].next)
			if (at > count || linked++ == count ||
			    bucket_of(
				    pending_reallocs,
				    pending_reallocs->lanes[at - 1].address) !=
				    &pending_reallocs->buckets[i])
				return false;	/* I1 */
	return true;
}
#endif

/* Grows both to 2^bits. */
static bool grow(struct pending_reallocs *pending_reallocs, unsigned bits)
{
	size_t old = pending_reallocs->bits
			     ? (size_t)1 << pending_reallocs->bits
			     : 0;
	size_t count = (size_t)1 << bits;
	uint32_t *buckets = calloc(count, sizeof(*buckets)), *before;
	struct pending_reallocs_lane *lanes =
		buckets == NULL ? NULL
				: try_alloc_resize(pending_reallocs->lanes,
						   count, sizeof(*lanes));

	DEBUG_ASSERT(bits > pending_reallocs->bits);
	if (lanes == NULL) {
		free(buckets);
		return false;
	}
	memset(lanes + old, 0, (count - old) * sizeof(*lanes));
	before = pending_reallocs->buckets;
	*pending_reallocs = (struct pending_reallocs){ lanes, buckets, bits };
	for (size_t i = 0; i < old; i++)
		for (uint32_t at = before[i], next; at != 0; at = next) {
			next = lanes[at - 1].next;
			link_lane(pending_reallocs, at - 1);
		}
	free(before);
	DEBUG_ASSERT(pending_reallocs_is_valid(pending_reallocs));
	return true;
}

bool pending_reallocs_reach(struct pending_reallocs *pending_reallocs,
			    uint32_t lane)
{
	unsigned bits =
		pending_reallocs->bits ? pending_reallocs->bits : BITS_MIN;

	while ((size_t)lane >> bits != 0)
		bits++;
	return bits == pending_reallocs->bits || grow(pending_reallocs, bits);
}

void pending_reallocs_add(struct pending_reallocs *pending_reallocs,
			  uint32_t lane, uint64_t address)
{
	assert(pending_reallocs->bits > 0 &&
	       (size_t)lane >> pending_reallocs->bits == 0);
	DEBUG_ASSERT(pending_reallocs_find(pending_reallocs, address) ==
		     PENDING_REALLOCS_NONE);
	pending_reallocs->lanes[lane].address = address;
	link_lane(pending_reallocs, lane);
	DEBUG_ASSERT(pending_reallocs_find(pending_reallocs, address) == lane);
}

void pending_reallocs_remove(struct pending_reallocs *pending_reallocs,
			     uint32_t lane)
{
	struct pending_reallocs_lane *entry = &pending_reallocs->lanes[lane];
	uint32_t *at = bucket_of(pending_reallocs, entry->address);

	assert((size_t)lane >> pending_reallocs->bits == 0);
	while (*at != lane + 1) {
		assert(*at != 0);	/* I1 */
		at = &pending_reallocs->lanes[*at - 1].next;
	}
	*at = entry->next;
}

uint32_t pending_reallocs_find(const struct pending_reallocs *pending_reallocs,
			       uint64_t address)
{
	uint32_t at;

	if (pending_reallocs->bits == 0)
		return PENDING_REALLOCS_NONE;
	for (at = *bucket_of(pending_reallocs, address); at != 0;
	     at = pending_reallocs->lanes[at - 1].next)
		if (pending_reallocs->lanes[at - 1].address == address)
			break;
	DEBUG_ASSERT(at == 0 ||
		     (size_t)(at - 1) >> pending_reallocs->bits == 0);
	return at - 1;
}

void pending_reallocs_free(struct pending_reallocs *pending_reallocs)
{
	free(pending_reallocs->lanes);
	free(pending_reallocs->buckets);
	memset(pending_reallocs, 0, sizeof(*pending_reallocs));
}
