/*
 * rows.h: the tables of a report: contexts, or groups of them, with their
 * figures, in order.
 */
#ifndef GNOMON_ROWS_H
#define GNOMON_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/model.h"

struct row {
	uint64_t live_bytes;
	uint64_t live_blocks;
	uint64_t peak_bytes;
	uint64_t peak_blocks;
	uint64_t total_bytes;
	uint64_t count;
	uint64_t frees;
	uint64_t temporary;
	uint32_t node;		/* the context, or the largest of the group */
	uint32_t contexts;	/* how many the row stands for */
	uint64_t largest;	/* the sort key's value of `node` */
	uint64_t group;		/* what `group` returned */
};

enum row_key {
	ROW_LIVE, ROW_PEAK, ROW_TOTAL, ROW_COUNT, ROW_TEMPORARY, ROW_KEYS
};
extern const char *const row_key_names[ROW_KEYS];

struct rows {
	struct row *list;
	size_t count;
};

uint64_t row_value(const struct row *row, enum row_key key);

/*
 * One row for each context that allocated; or, with `group`, one for each
 * value that it returns for a context's node. `key` decides which context
 * stands for a group. Release with free(rows->list).
 */
void rows_collect(const struct model *model, enum row_key key,
		  uint64_t (*group)(void *owner, uint32_t node), void *owner,
		  struct rows *rows);
/* Largest first; equal ones in an order that does not change. */
void rows_sort(struct rows *rows, enum row_key key);

#endif
