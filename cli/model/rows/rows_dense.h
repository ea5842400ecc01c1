/*
 * rows_dense.h: groups of rows without a hash: where the values of all keys are
 * few, a group is a place in a bitmap of all pairs of node and values, and its
 * number is how many bits before that place are set (rank; Jacobson, Space-
 * efficient static trees and graphs, 1989).
 *
 * One thread makes it; once it is sealed, any thread may ask.
 */
#ifndef GNOMON_ROWS_DENSE_H
#define GNOMON_ROWS_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/block_keys.h"

struct model;
struct rows_values;

/* No more pairs than this: so many bits are in the caches, about. */
#define ROWS_DENSE_MAX (UINT64_C(1) << 26)

struct rows_dense {
	unsigned keys;
	enum block_key key[BLOCK_KEYS_MAX];
	uint32_t radix[BLOCK_KEYS_MAX];	/* how many values */
	uint32_t nodes;
	uint64_t cells;			/* of all nodes */
	uint64_t *bits;			/* of the groups there are */
	uint32_t *before;		/* groups in all words before this one */
};

/* False: there are too many pairs, or some key has too many values. */
bool rows_dense_begin(struct rows_dense *dense, const struct model *model,
		      const struct block_keys *keys);
/* As many zeros as all cells take; to be freed. */
uint64_t *rows_dense_bits(const struct rows_dense *dense);
/* The place of each row: `nodes` has STORE_NONE or more for those in no group,
 * which get `cells`. */
void rows_dense_places(const struct rows_dense *dense, const uint64_t *nodes,
		       const struct rows_values *values, size_t count,
		       uint32_t *places);
/* These places are groups, too. */
void rows_dense_add(struct rows_dense *dense, const uint64_t *bits);
/* All places are. */
void rows_dense_fill(struct rows_dense *dense);
/* Number them; returns how many there are. */
size_t rows_dense_seal(struct rows_dense *dense);
/* The group at a place; STORE_NONE: none. */
uint32_t rows_dense_number(const struct rows_dense *dense, uint32_t place);
/* What lies at a place. */
uint32_t rows_dense_node(const struct rows_dense *dense, uint64_t place);
void rows_dense_values(const struct rows_dense *dense, uint64_t place,
		       uint32_t values[BLOCK_KEYS_MAX]);
void rows_dense_free(struct rows_dense *dense);

#endif
