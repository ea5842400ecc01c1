/*
 * intern.c: an open-addressing set of strings over an arena. The characters
 * lie in blocks that are only released together: nothing here is ever freed
 * one by one.
 */
#include "cli/base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/claim.h"

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
	CLAIM_FULL(block->used <= block->size);
	return block->bytes + block->used - size;
}

static const char **find(const struct intern *set, const char *bytes, size_t size)
{
	size_t i = hash_bytes(bytes, size) & (set->capacity - 1);

	CLAIM_FULL(set->used < set->capacity);
	while (set->slots[i] != NULL &&
	       (strncmp(set->slots[i], bytes, size) != 0 ||
		set->slots[i][size] != 0))
		i = (i + 1) & (set->capacity - 1);
	return &set->slots[i];
}

#ifdef GNOMON_CLAIMS
bool intern_is_valid(const struct intern *set)
{
	size_t used = 0;

	if (set->capacity & (set->capacity - 1))
		return false;
	for (size_t i = 0; i < set->capacity; i++) {
		const char *string = set->slots[i];

		used += string != NULL;
		if (string != NULL &&
		    *find(set, string, strlen(string)) != string)
			return false;
	}
	for (const struct intern_block *b = set->blocks; b; b = b->next)
		if (b->used > b->size)
			return false;
	return used == set->used && used * 2 <= set->capacity;
}
#endif

static void enlarge(struct intern *set)
{
	const char **old = set->slots;
	size_t old_capacity = set->capacity;

	set->capacity = old_capacity ? old_capacity * 2 : 256;
	set->slots = grow_zeroed(set->capacity, sizeof(*set->slots));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i] != NULL)
			*find(set, old[i], strlen(old[i])) = old[i];
	free(old);
	CLAIM_FULL(intern_is_valid(set));
}

const char *intern_bytes(struct intern *set, const char *bytes, size_t size)
{
	const char **slot;
	char *copy;

	/* A NUL inside would make the string unfindable. */
	size = strnlen(bytes, size);
	if (set->used * 2 >= set->capacity)
		enlarge(set);
	slot = find(set, bytes, size);
	if (*slot != NULL)
		return *slot;
	copy = arena_take(set, size + 1);
	memcpy(copy, bytes, size);
	copy[size] = 0;
	set->used++;
	CLAIM_FULL(set->used * 2 <= set->capacity);
	return *slot = copy;
}

const char *intern_known(const struct intern *set, const char *string)
{
	return set->capacity ? *find(set, string, strlen(string)) : NULL;
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
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
