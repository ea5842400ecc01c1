/*
 * intern.c: an open-addressing set of strings over an arena. The characters lie
 * in blocks that are only released together; no string is freed alone.
 */
#include "cli/base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

#define BLOCK_BYTES 65536

struct intern_block {
	struct intern_block *next;
	size_t used;
	size_t size;
	char bytes[];
};

static char *arena_take(struct intern *set, size_t size)
{
	struct intern_block *block = set->blocks;

	if (block == NULL || block->size - block->used < size) {
		size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;

		block = grow_alloc(sizeof(*block) + room);
		block->next = set->blocks;
		block->used = 0;
		block->size = room;
		set->blocks = block;
	}
	block->used += size;
	DEBUG_ASSERT(block->used <= block->size);
	return block->bytes + block->used - size;
}

static bool is_at(const struct intern *set, uint32_t number, const char *bytes,
		  size_t size)
{
	const char *string = set->list[number];

	DEBUG_ASSERT(number < set->count);
	return strncmp(string, bytes, size) == 0 && string[size] == 0;
}

static uint32_t *find(const struct intern *set, const char *bytes, size_t size)
{
	size_t i = hash_bytes(bytes, size) & (set->capacity - 1);

	DEBUG_ASSERT(set->count < set->capacity);
	while (set->slots[i] != INTERN_FREE &&
	       !is_at(set, set->slots[i], bytes, size))
		i = (i + 1) & (set->capacity - 1);
	return &set->slots[i];
}

#ifdef GNOMON_DEBUG_ASSERTS
bool intern_is_valid(const struct intern *set)
{
	size_t used = 0;

	if (set->capacity & (set->capacity - 1))
		return false;
	for (size_t i = 0; i < set->capacity; i++)
		used += set->slots[i] != INTERN_FREE;
	if (used != set->count || used * 2 > set->capacity)
		return false;
	for (size_t i = 0; i < set->count; i++)
		if (*find(set, set->list[i], strlen(set->list[i])) != i)
			return false;
	for (const struct intern_block *b = set->blocks; b; b = b->next)
		if (b->used > b->size)
			return false;
	return true;
}
#endif

static void enlarge(struct intern *set)
{
	set->capacity = set->capacity ? set->capacity * 2 : 256;
	free(set->slots);
	set->slots = grow_alloc(set->capacity * sizeof(*set->slots));
	memset(set->slots, 0xff, set->capacity * sizeof(*set->slots));
	for (size_t i = 0; i < set->count; i++)
		*find(set, set->list[i], strlen(set->list[i])) = (uint32_t)i;
	DEBUG_ASSERT(intern_is_valid(set));
}

uint32_t intern_number(struct intern *set, const char *bytes, size_t size)
{
	uint32_t *slot;
	char *copy;

	/* A string with a NUL inside would never be found again. */
	size = strnlen(bytes, size);
	if (set->count * 2 >= set->capacity)
		enlarge(set);
	slot = find(set, bytes, size);
	if (*slot != INTERN_FREE)
		return *slot;
	copy = arena_take(set, size + 1);
	memcpy(copy, bytes, size);
	copy[size] = 0;
	assert(set->count < INTERN_FREE);
	GROW(set->list, set->count, set->list_capacity);
	*slot = (uint32_t)set->count;
	set->list[set->count++] = copy;
	DEBUG_ASSERT(set->count * 2 <= set->capacity);
	return *slot;
}

const char *intern_bytes(struct intern *set, const char *bytes, size_t size)
{
	uint32_t number = intern_number(set, bytes, size);

	return set->list[number];
}

const char *intern_known(const struct intern *set, const char *string)
{
	uint32_t number = set->capacity ?
		*find(set, string, strlen(string)) : INTERN_FREE;

	return number == INTERN_FREE ? NULL : set->list[number];
}

const char *intern_string(struct intern *set, const char *string)
{
	return intern_bytes(set, string, strlen(string));
}

void intern_free(struct intern *set)
{
	while (set->blocks != NULL) {
		struct intern_block *next = set->blocks->next;

		free(set->blocks);
		set->blocks = next;
	}
	free(set->list);
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
