/*
 * strip_totals.c: see the header. Rows have the classes of sizes and lifetimes
 * as short lists: most contexts know few.
 *
 * Called by the main thread.
 */
#include "cli/strip_totals.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define ROWS_AT_A_TIME 2048	/* 2 MiB, decoded */

static struct strip_row *row_of(struct strip_totals *totals, uint32_t context,
				uint32_t thread)
{
	uint64_t key = (uint64_t)context << 32 | thread;
	uint32_t i = table_get(&totals->by_key, key);
	struct strip_row *row;

	if (i != TABLE_NONE)
		return &totals->rows[i];
	GROW(totals->rows, totals->row_count, totals->row_capacity);
	table_set(&totals->by_key, key, (uint32_t)totals->row_count);
	row = &totals->rows[totals->row_count++];
	memset(row, 0, sizeof(*row));
	row->context = context;
	row->thread = thread;
	return row;
}

static void count_class(struct strip_totals *totals, struct strip_row *row,
			unsigned class, bool is_lifetime)
{
	struct strip_cell *cell;
	uint32_t i = row->first_cell;

	while (i != 0 && (totals->cells[i].class != class ||
			  totals->cells[i].is_lifetime != is_lifetime))
		i = totals->cells[i].next;
	if (i == 0) {
		if (totals->cell_count == 0)
			totals->cell_count = totals->cell_capacity = 1,
			totals->cells = grow_zeroed(1, sizeof(*cell));
		GROW(totals->cells, totals->cell_count,
		     totals->cell_capacity);
		i = (uint32_t)totals->cell_count++;
		totals->cells[i] = (struct strip_cell){
			.next = row->first_cell, .class = (uint8_t)class,
			.is_lifetime = is_lifetime,
		};
		row->first_cell = i;
	}
	totals->cells[i].blocks++;
}

void strip_totals_add(struct strip_totals *totals,
		      const struct strip_block *block)
{
	struct strip_row *row = row_of(totals, block->context, block->thread);
	uint64_t *value = row->value;

	if (value[GT_TOTALS_ALLOCATIONS] == 0 ||
	    block->birth < value[GT_TOTALS_FIRST])
		value[GT_TOTALS_FIRST] = block->birth;
	if (block->birth > value[GT_TOTALS_LAST])
		value[GT_TOTALS_LAST] = block->birth;
	value[GT_TOTALS_ALLOCATIONS]++;
	value[GT_TOTALS_BYTES] += block->size;
	value[GT_TOTALS_FREES]++;
	value[GT_TOTALS_FREED_BYTES] += block->size;
	value[GT_TOTALS_TEMPORARY] += block->temporary;
	value[GT_TOTALS_LIFETIME] += block->lifetime;
	count_class(totals, row, totals_class(block->size), false);
	count_class(totals, row, totals_class(block->lifetime_ns), true);
	totals->blocks++;
	totals->bytes += block->size;
}

void strip_totals_own_peak(struct strip_totals *totals, uint32_t context,
			   uint64_t bytes, uint64_t blocks, uint64_t stamp)
{
	struct strip_row *row = row_of(totals, context, 0);

	row->value[GT_TOTALS_OWN_PEAK_BYTES] = bytes;
	row->value[GT_TOTALS_OWN_PEAK_BLOCKS] = blocks;
	row->value[GT_TOTALS_OWN_PEAK_STAMP] = stamp;
}

static int compare_rows(const void *left, const void *right)
{
	const struct strip_row *a = *(const struct strip_row *const *)left;
	const struct strip_row *b = *(const struct strip_row *const *)right;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void spread(const struct strip_totals *totals,
		   const struct strip_row *row, struct trace_totals *to)
{
	memset(to, 0, sizeof(*to));
	to->context = row->context;
	to->thread = row->thread;
	memcpy(to->value, row->value, sizeof(to->value));
	for (uint32_t i = row->first_cell; i != 0; i = totals->cells[i].next)
		if (totals->cells[i].is_lifetime)
			to->lifetimes[totals->cells[i].class] =
				totals->cells[i].blocks;
		else
			to->sizes[totals->cells[i].class] =
				totals->cells[i].blocks;
}

void strip_totals_write(const struct strip_totals *totals,
			struct rewrite *out)
{
	const struct strip_row **order;
	struct trace_totals *some;
	struct buffer payload = { 0 };

	order = grow_alloc((totals->row_count + 1) * sizeof(*order));
	some = grow_alloc(ROWS_AT_A_TIME * sizeof(*some));
	for (size_t i = 0; i < totals->row_count; i++)
		order[i] = &totals->rows[i];
	qsort(order, totals->row_count, sizeof(*order), compare_rows);
	for (size_t i = 0; i < totals->row_count;) {
		size_t n = 0;

		for (; n < ROWS_AT_A_TIME && i < totals->row_count; n++, i++)
			spread(totals, order[i], &some[n]);
		buffer_clear(&payload);
		compose_totals(&payload, some, n, out->level);
		rewrite_chunk(out, &(struct chunk){ .type = GT_TOTALS },
			      &payload, false);
	}
	buffer_free(&payload);
	free(order);
	free(some);
}

void strip_totals_free(struct strip_totals *totals)
{
	free(totals->rows);
	free(totals->cells);
	table_free(&totals->by_key);
	memset(totals, 0, sizeof(*totals));
}
