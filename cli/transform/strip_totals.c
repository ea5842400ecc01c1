/*
 * strip_totals.c: see the header.
 *
 * Called by the main thread.
 */
#include "cli/transform/strip_totals.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"

#define ROWS_AT_A_TIME 65536	/* at most 8 MiB when decoded */

static struct trace_totals *row_of(struct strip_rows *rows, uint32_t context,
				   uint32_t thread)
{
	uint64_t key = (uint64_t)context << 32 | thread;
	uint32_t i = table_number(&rows->by_key, key, rows->count);

	if (i == rows->count) {
		GROW(rows->list, rows->count, rows->capacity);
		rows->list[rows->count++] = (struct trace_totals){
			.context = context, .thread = thread,
		};
	}
	return &rows->list[i];
}

static void count_classes(struct trace_classes *classes,
			  const struct strip_block *block, uint64_t n)
{
	uint64_t *size = classes->size[totals_class(block->size)];
	uint64_t *lifetime = classes->lifetime[totals_class(
		block->lifetime_ns)];

	size[GT_SIZE_ALLOCATIONS] += n;
	size[GT_SIZE_BYTES] += n * block->size;
	size[GT_SIZE_FREES] += n;
	size[GT_SIZE_FREED_BYTES] += n * block->size;
	size[GT_SIZE_TEMPORARY] += block->temporary ? n : 0;
	size[GT_SIZE_LIFETIME] += n * block->lifetime;
	lifetime[GT_LIFETIME_BLOCKS] += n;
	lifetime[GT_LIFETIME_BYTES] += n * block->size;
}

static void count_freed(struct strip_totals *totals,
			const struct strip_block *block, uint64_t n)
{
	uint64_t *value = row_of(&totals->freed, block->context,
				 block->freed_by)->value;

	value[GT_FREED_BLOCKS] += n;
	value[GT_FREED_BYTES] += n * block->size;
	value[GT_FREED_LIFETIME] += n * block->lifetime;
}

/*
 * How many blocks it counts for: its weight, rounded to a whole number. The
 * rounding error is carried to the row's next block.
 */
static uint64_t whole_blocks(struct strip_totals *totals, size_t row,
			     double weight)
{
	double sum;
	uint64_t n;

	GROW_TO(totals->carry, totals->carry_capacity, row);
	sum = weight + totals->carry[row];
	n = sum > 0 ? (uint64_t)(sum + 0.5) : 0;
	totals->carry[row] = sum - (double)n;
	return n;
}

void strip_totals_add(struct strip_totals *totals,
		      const struct strip_block *block)
{
	struct trace_totals *row = row_of(&totals->rows, block->context,
					  block->thread);
	uint64_t n = whole_blocks(totals, (size_t)(row - totals->rows.list),
				  block->weight);
	uint64_t *value = row->value;

	if (value[GT_TOTALS_ALLOCATIONS] == 0 ||
	    block->alloc < value[GT_TOTALS_FIRST])
		value[GT_TOTALS_FIRST] = block->alloc;
	if (block->alloc > value[GT_TOTALS_LAST])
		value[GT_TOTALS_LAST] = block->alloc;
	value[GT_TOTALS_ALLOCATIONS] += n;
	value[GT_TOTALS_BYTES] += n * block->size;
	value[GT_TOTALS_FREES] += n;
	value[GT_TOTALS_FREED_BYTES] += n * block->size;
	value[GT_TOTALS_TEMPORARY] += block->temporary ? n : 0;
	value[GT_TOTALS_LIFETIME] += n * block->lifetime;
	count_classes(&totals->classes, block, n);
	if (block->has_freed_by)
		count_freed(totals, block, n);
	totals->blocks++;
	totals->bytes += block->size;
}

static void raise(uint64_t *max, uint64_t value)
{
	if (value > *max)
		*max = value;
}

void strip_totals_chain(struct strip_totals *totals, const struct chain *chain,
			uint64_t lifetime)
{
	uint64_t *value = row_of(&totals->chains, chain->cost, 0)->value;

	value[GT_CHAINS_COUNT]++;
	value[GT_CHAINS_BLOCKS] += chain->length;
	raise(&value[GT_CHAINS_LONGEST], chain->length);
	value[GT_CHAINS_FIRST_BYTES] += chain->first_size;
	value[GT_CHAINS_LAST_BYTES] += chain->last_size;
	raise(&value[GT_CHAINS_LARGEST], chain->last_size);
	value[GT_CHAINS_MOVES] += chain->moves;
	value[GT_CHAINS_COPIED_BYTES] += chain->copied_bytes;
	value[GT_CHAINS_LIFETIME] += lifetime;
}

void strip_totals_own_peak(struct strip_totals *totals, uint32_t context,
			   uint64_t bytes, uint64_t blocks, uint64_t stamp)
{
	struct trace_totals *row = row_of(&totals->rows, context, 0);

	row->value[GT_TOTALS_OWN_PEAK_BYTES] = bytes;
	row->value[GT_TOTALS_OWN_PEAK_BLOCKS] = blocks;
	row->value[GT_TOTALS_OWN_PEAK_STAMP] = stamp;
}

static int compare_rows(const void *left, const void *right)
{
	const struct trace_totals *a = left;
	const struct trace_totals *b = right;

	return sort_up(a->context, b->context) ?:
	       sort_up(a->thread, b->thread);
}

static void write_rows(const struct strip_rows *rows, const struct chunk *chunk,
		       void (*compose)(struct buffer *out,
				       const struct trace_totals *rows,
				       size_t count, int level),
		       struct rewrite *out)
{
	LOCAL_BUFFER payload = { 0 };

	SORT(rows->list, rows->count, compare_rows);
	for (size_t i = 0; i < rows->count; i += ROWS_AT_A_TIME) {
		size_t n = rows->count - i;

		buffer_clear(&payload);
		compose(&payload, rows->list + i,
			n < ROWS_AT_A_TIME ? n : ROWS_AT_A_TIME, out->level);
		rewrite_chunk(out, chunk, &payload, false);
	}
}

void strip_totals_write(struct strip_totals *totals, struct rewrite *out)
{
	const struct chunk chunk = { .type = GT_TOTALS };
	LOCAL_BUFFER payload = { 0 };

	if (totals->rows.count == 0)
		return;
	compose_classes(&payload, &totals->classes);
	rewrite_chunk(out, &chunk, &payload, false);
	write_rows(&totals->rows, &chunk, compose_totals, out);
	write_rows(&totals->freed, &(struct chunk){ .type = GT_FREED },
		   compose_freed, out);
	write_rows(&totals->chains, &(struct chunk){ .type = GT_CHAINS },
		   compose_chains, out);
}

static void free_rows(struct strip_rows *rows)
{
	free(rows->list);
	table_free(&rows->by_key);
}

void strip_totals_free(struct strip_totals *totals)
{
	free_rows(&totals->rows);
	free_rows(&totals->freed);
	free_rows(&totals->chains);
	free(totals->carry);
	memset(totals, 0, sizeof(*totals));
}
