/*
 * blocks.c: linear probing; removal moves later slots back (Knuth's
 * algorithm R), so there are no tombstones and a table that was once large
 * does not become slow. At most 5/8 of the slots are used. Where a slot
 * belongs, its half of the hash says; blocks are only looked at if that half
 * is the wanted one.
 *
 *  I1  Between a slot's home and its place there is no free slot.
 *
 * Called by the reader's thread.
 */
#include "cli/model/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define FIRST_BITS 12
#define BITS_MAX 32		/* of the hash that a slot has */
#define NUMBERS_MAX ((size_t)UINT32_MAX - 1)

static void allocate(struct blocks *blocks, unsigned bits)
{
	blocks->slots = grow_zeroed((size_t)1 << bits,
				    sizeof(*blocks->slots));
	blocks->mask = (UINT64_C(1) << bits) - 1;
	blocks->shift = BITS_MAX - bits;
}

void blocks_init(struct blocks *blocks)
{
	memset(blocks, 0, sizeof(*blocks));
	allocate(blocks, FIRST_BITS);
	GROW(blocks->list, blocks->used, blocks->capacity);
	memset(&blocks->list[blocks->used++], 0, sizeof(*blocks->list));
}

static inline uint64_t home(const struct blocks *blocks, uint64_t slot)
{
	return slot >> 32 >> blocks->shift;
}

/* The slot of this address, or the free one where it would be. */
static inline uint64_t *search(const struct blocks *blocks, uint64_t address,
			       uint32_t hash)
{
	uint64_t i = hash >> blocks->shift;

	for (;; i = (i + 1) & blocks->mask) {
		uint64_t slot = blocks->slots[i];

		if (slot == 0 ||
		    (slot >> 32 == hash &&
		     blocks->list[(uint32_t)slot].address == address))
			return &blocks->slots[i];
	}
}

struct block *blocks_find(const struct blocks *blocks, uint64_t address)
{
	uint64_t slot = *search(blocks, address, blocks_hash(address));

	return slot != 0 ? &blocks->list[(uint32_t)slot] : NULL;
}

static void enlarge(struct blocks *blocks)
{
	uint64_t *old = blocks->slots, count = blocks->mask + 1;

	if (blocks->shift == 0)
		return;
	allocate(blocks, BITS_MAX - blocks->shift + 1);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t to = home(blocks, old[i]);

		if (old[i] == 0)
			continue;
		while (blocks->slots[to] != 0)
			to = (to + 1) & blocks->mask;
		blocks->slots[to] = old[i];
	}
	free(old);
}

/* A number that is free; there is always memory for fewer than there are. */
static uint32_t new_number(struct blocks *blocks)
{
	uint32_t number = blocks->free;

	if (number != 0) {
		blocks->free = blocks->list[number].cost;
		/* The next one's turn comes soon. */
		__builtin_prefetch(&blocks->list[blocks->free], 1);
		return number;
	}
	if (blocks->used >= NUMBERS_MAX)
		grow_alloc(SIZE_MAX / 2);	/* ends the command */
	GROW(blocks->list, blocks->used, blocks->capacity);
	return (uint32_t)blocks->used++;
}

struct block *blocks_add(struct blocks *blocks, uint64_t address, int *is_new)
{
	uint32_t hash = blocks_hash(address), number;
	uint64_t *slot = search(blocks, address, hash);

	*is_new = *slot == 0;
	if (!*is_new)
		return &blocks->list[(uint32_t)*slot];
	if (blocks->count > (blocks->mask >> 3) * 5) {
		enlarge(blocks);
		slot = search(blocks, address, hash);
	}
	number = new_number(blocks);
	*slot = (uint64_t)hash << 32 | number;
	blocks->list[number].address = address;
	blocks->count++;
	return &blocks->list[number];
}

void blocks_remove(struct blocks *blocks, struct block *block)
{
	uint32_t number = blocks_number(blocks, block);
	uint32_t hash = blocks_hash(block->address);
	uint64_t wanted = (uint64_t)hash << 32 | number;
	uint64_t hole = hash >> blocks->shift, i;

	while (blocks->slots[hole] != wanted)
		hole = (hole + 1) & blocks->mask;
	for (i = hole;;) {
		uint64_t slot;

		i = (i + 1) & blocks->mask;
		slot = blocks->slots[i];
		if (slot == 0)
			break;
		/* I1: it may move back to the hole unless its home lies
		 * behind the hole. */
		if (((i - home(blocks, slot)) & blocks->mask) >=
		    ((i - hole) & blocks->mask)) {
			blocks->slots[hole] = slot;
			hole = i;
		}
	}
	blocks->slots[hole] = 0;
	blocks->list[number].address = 0;
	blocks->list[number].cost = blocks->free;
	blocks->free = number;
	blocks->count--;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->slots);
	free(blocks->list);
	memset(blocks, 0, sizeof(*blocks));
}
