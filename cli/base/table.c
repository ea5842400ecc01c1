/*
 * table.c: see table.h. At most half of the slots are used, so that a search
 * for a missing key ends after one or two probes.
 */
#include "cli/base/table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

#define FIRST_SLOTS 64

static struct table_slot *find(const struct table *table, uint64_t key)
{
	uint64_t i = hash_number(key) & table->mask;

	DEBUG_ASSERT(table->used <= table->mask);
	while (table->slots[i].value != TABLE_NONE &&
	       table->slots[i].key != key)
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

#ifdef GNOMON_DEBUG_ASSERTS
bool table_is_valid(const struct table *table)
{
	uint64_t used = 0;

	if (table->slots == NULL)
		return table->used == 0;
	if (table->mask & (table->mask + 1))
		return false;
	for (uint64_t i = 0; i <= table->mask; i++) {
		const struct table_slot *slot = &table->slots[i];

		used += slot->value != TABLE_NONE;
		if (slot->value != TABLE_NONE && find(table, slot->key) != slot)
			return false;
	}
	return used == table->used && used * 2 <= table->mask + 1;
}
#endif

static void enlarge(struct table *table)
{
	struct table old = *table;
	uint64_t count = old.slots ? (old.mask + 1) * 2 : FIRST_SLOTS;

	table->slots = grow_lines(NULL, 0, count * sizeof(*table->slots));
	table->mask = count - 1;
	for (uint64_t i = 0; i < count; i++)
		table->slots[i].value = TABLE_NONE;
	if (old.slots == NULL)
		return;
	for (uint64_t i = 0; i <= old.mask; i++)
		if (old.slots[i].value != TABLE_NONE)
			*find(table, old.slots[i].key) = old.slots[i];
	free(old.slots);
	DEBUG_ASSERT(table_is_valid(table));
}

uint32_t table_get(const struct table *table, uint64_t key)
{
	return table->slots ? find(table, key)->value : TABLE_NONE;
}

/* The slot of a key, which may be new, and is given `value` then. */
static struct table_slot *take(struct table *table, uint64_t key,
			       uint32_t value)
{
	struct table_slot *slot;

	DEBUG_ASSERT(value != TABLE_NONE);
	if (table->slots == NULL || table->used * 2 > table->mask)
		enlarge(table);
	slot = find(table, key);
	if (slot->value == TABLE_NONE) {
		table->used++;
		*slot = (struct table_slot){ key, value };
	}
	DEBUG_ASSERT(table->used * 2 <= table->mask + 1);
	return slot;
}

void table_set(struct table *table, uint64_t key, uint32_t value)
{
	take(table, key, value)->value = value;
}

uint32_t table_number(struct table *table, uint64_t key, size_t next)
{
	DEBUG_ASSERT(next < TABLE_NONE);
	return take(table, key, (uint32_t)next)->value;
}

void table_free(struct table *table)
{
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
