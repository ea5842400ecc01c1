/*
 * blocks.c: linear probing; removal moves later entries back (Knuth's
 * algorithm R), so there are no tombstones and a table that was once large
 * does not become slow. At most 5/8 of the entries are used.
 *
 *  I1  Between an entry's home and its place there is no free entry.
 *
 * Called by the reader's thread.
 */
#include "cli/model/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define FIRST_BITS 12

static void allocate(struct blocks *blocks, unsigned bits)
{
	blocks->table = grow_zeroed((size_t)1 << bits,
				    sizeof(*blocks->table));
	blocks->mask = (UINT64_C(1) << bits) - 1;
	blocks->shift = 64 - bits;
}

void blocks_init(struct blocks *blocks)
{
	memset(blocks, 0, sizeof(*blocks));
	allocate(blocks, FIRST_BITS);
}

static struct block *search(const struct blocks *blocks, uint64_t address)
{
	uint64_t i = blocks_home(blocks, address);

	while (blocks->table[i].address != address &&
	       blocks->table[i].address != 0)
		i = (i + 1) & blocks->mask;
	return &blocks->table[i];
}

struct block *blocks_find(const struct blocks *blocks, uint64_t address)
{
	struct block *block = search(blocks, address);

	return block->address != 0 ? block : NULL;
}

static void enlarge(struct blocks *blocks)
{
	struct block *old = blocks->table;
	uint64_t count = blocks->mask + 1;

	allocate(blocks, 64 - blocks->shift + 1);
	for (uint64_t i = 0; i < count; i++)
		if (old[i].address != 0)
			*search(blocks, old[i].address) = old[i];
	free(old);
}

struct block *blocks_add(struct blocks *blocks, uint64_t address, int *is_new)
{
	struct block *block = search(blocks, address);

	*is_new = block->address == 0;
	if (!*is_new)
		return block;
	if (blocks->count > (blocks->mask >> 3) * 5) {
		enlarge(blocks);
		block = search(blocks, address);
	}
	block->address = address;
	blocks->count++;
	return block;
}

void blocks_remove(struct blocks *blocks, struct block *block)
{
	uint64_t hole = (uint64_t)(block - blocks->table), i = hole;

	for (;;) {
		uint64_t home;

		i = (i + 1) & blocks->mask;
		if (blocks->table[i].address == 0)
			break;
		home = blocks_home(blocks, blocks->table[i].address);
		/* I1: it may move back to the hole unless its home lies
		 * behind the hole. */
		if (((i - home) & blocks->mask) >= ((i - hole) & blocks->mask)) {
			blocks->table[hole] = blocks->table[i];
			hole = i;
		}
	}
	blocks->table[hole].address = 0;
	blocks->count--;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->table);
	memset(blocks, 0, sizeof(*blocks));
}
