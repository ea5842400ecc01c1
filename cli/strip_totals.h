/*
 * strip_totals.h: sums over the blocks that are left out, by context and
 * thread.
 */
#ifndef GNOMON_STRIP_TOTALS_H
#define GNOMON_STRIP_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/rewrite.h"

/* A block that was left out. */
struct strip_block {
	uint32_t context;	/* as the trace numbers it */
	uint32_t thread;	/* number of its START, 0: unknown */
	uint64_t size;
	uint64_t birth;		/* stamp */
	uint64_t lifetime;	/* ticks */
	uint64_t lifetime_ns;
	bool temporary;
};

struct strip_row {
	uint32_t context, thread;
	uint32_t first_cell;	/* of its classes; 0: none */
	uint64_t value[GT_TOTALS_VALUES];
};

/* Blocks of one class of a row. */
struct strip_cell {
	uint64_t blocks;
	uint32_t next;
	uint8_t class;
	bool is_lifetime;
};

struct strip_totals {
	struct strip_row *rows;
	size_t row_count, row_capacity;
	struct strip_cell *cells;	/* 0 is not used */
	size_t cell_count, cell_capacity;
	struct table by_key;		/* context, thread -> row */
	uint64_t blocks, bytes;		/* in all */
};

/* A zeroed struct strip_totals is empty. */
void strip_totals_add(struct strip_totals *totals,
		      const struct strip_block *block);
/* What a context had at most, all its threads together. */
void strip_totals_own_peak(struct strip_totals *totals, uint32_t context,
			   uint64_t bytes, uint64_t blocks, uint64_t stamp);
void strip_totals_write(const struct strip_totals *totals,
			struct rewrite *out);
void strip_totals_free(struct strip_totals *totals);

#endif
