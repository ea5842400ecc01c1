/*
 * index_dense.h: numbers groups of rows without a hash table. If all keys have
 * few values, a group is a position in a bitmap of all tuples of node and
 * values. Its number is the count of bits set before that position (rank;
 * Jacobson, Space-efficient static trees and graphs, 1989).
 *
 * One thread makes it; once it is sealed, any thread may search it.
 */
#ifndef GNOMON_INDEX_DENSE_H
#define GNOMON_INDEX_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/block_keys.h"

struct model;
struct index_values;

/* The largest number of tuples: about as many bits as fit in the caches. */
#define INDEX_DENSE_MAX (UINT64_C(1) << 26)

struct index_dense {
	unsigned keys;
	enum block_key key[BLOCK_KEYS_MAX];
	uint32_t radix[BLOCK_KEYS_MAX];	/* how many values each key has */
	uint32_t nodes;
	uint64_t cells;			/* total number of tuples */
	uint64_t *bits;			/* set for existing groups */
	uint32_t *before;		/* groups in all words before this
					 * one */
};

/* False: there are too many tuples, or some key has too many values. */
bool index_dense_begin(struct index_dense *dense, const struct model *model,
		       const struct block_keys *keys);
/* A zeroed bitmap of all tuples; to be freed. */
uint64_t *index_dense_bits(const struct index_dense *dense);
/* The position of each row. Rows in no group have STORE_NONE or more in
 * `nodes`, and get the position `cells`. */
void index_dense_places(const struct index_dense *dense, const uint64_t *nodes,
			const struct index_values *values, size_t count,
			uint32_t *places);
/* Adds the groups at these positions. */
void index_dense_add(struct index_dense *dense, const uint64_t *bits);
/* Adds groups at all positions. */
void index_dense_fill(struct index_dense *dense);
/* Numbers the groups; returns how many there are. */
size_t index_dense_seal(struct index_dense *dense);
/* The group at a position; STORE_NONE: none. */
uint32_t index_dense_number(const struct index_dense *dense, uint32_t place);
/* The node and the values of a position. */
uint32_t index_dense_node(const struct index_dense *dense, uint64_t place);
void index_dense_values(const struct index_dense *dense, uint64_t place,
			uint32_t values[BLOCK_KEYS_MAX]);
void index_dense_free(struct index_dense *dense);

#endif
