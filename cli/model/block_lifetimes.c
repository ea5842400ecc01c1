/*
 * block_lifetimes.c: see block_lifetimes.h.
 */
#include "cli/model/block_lifetimes.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

void block_lifetimes_begin(struct block_lifetimes *block_lifetimes)
{
	if (block_lifetimes->count == block_lifetimes->capacity) {
		block_lifetimes->capacity =
			block_lifetimes->capacity * 2 + 4096;
		block_lifetimes->class = grow_resize(
			block_lifetimes->class, block_lifetimes->capacity, 1);
	}
	block_lifetimes->class[block_lifetimes->count++] = BLOCK_LIFETIME_LIVE;
}

void block_lifetimes_end(struct block_lifetimes *block_lifetimes,
			 uint64_t number, unsigned class)
{
	DEBUG_ASSERT(number > 0 && number <= block_lifetimes->count);
	block_lifetimes->class[number - 1] = (uint8_t)class;
}

void block_lifetimes_free(struct block_lifetimes *block_lifetimes)
{
	if (block_lifetimes != NULL)
		free(block_lifetimes->class);
	free(block_lifetimes);
}
