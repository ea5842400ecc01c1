/*
 * table.h: a map from 64-bit keys to 32-bit values, for indexes into arrays.
 * Open addressing; nothing is ever removed.
 */
#ifndef GNOMON_TABLE_H
#define GNOMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_NONE UINT32_MAX	/* not a value */

struct table_slot {
	uint64_t key;
	uint32_t value;		/* TABLE_NONE: free */
};

struct table {
	struct table_slot *slots;
	uint64_t mask;
	uint64_t used;
};

/* A zeroed struct table is empty. */
uint32_t table_get(const struct table *table, uint64_t key);
void table_set(struct table *table, uint64_t key, uint32_t value);
/* The value of the key; a new key gets the value `next`, so that keys are
 * numbered in order of first use. */
uint32_t table_number(struct table *table, uint64_t key, size_t next);
void table_free(struct table *table);

/* Checks the count, and that each key is found. With GNOMON_DEBUG_ASSERTS. */
bool table_is_valid(const struct table *table);

#endif
