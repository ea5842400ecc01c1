/*
 * cull_totals.c: see cull_totals.h. Readers add up the rows of a trace, so
 * written rows are freed: only contexts with blocks left out since the last
 * time take memory. With --sample, the fraction that rounding drops from a row
 * is carried to the context's next row (struct block_table_figure).
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/cull_totals.h"

#include <errno.h>
#include <string.h>

#include "preload/base/base.h"
#include "cli/recorder/live_blocks/block_table_rows.h"
#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "cli/recorder/base/zeroed.h"
#include "unwind/base/assertion.h"

#define CULL_BUCKETS 65536u
#define CULL_ROWS_PART 16

static int cull_rows_init(struct cull_rows *rows, uint64_t bytes)
{
	rows->rows.max = bytes / CULL_ROWS_PART;
	rows->heads = zeroed_alloc(CULL_BUCKETS * sizeof(*rows->heads));
	return rows->heads ? 0 : -ENOMEM;
}

int cull_totals_init(struct cull_totals *totals, uint64_t bytes,
		     struct chunk_out *out, struct compress *compress,
		     struct emit_node *nodes, bool has_freed, uint64_t mean)
{
	totals->has_freed = has_freed;
	totals->mean = mean;
	if (cull_rows_init(&totals->blocks, bytes) ||
	    cull_rows_init(&totals->freed, bytes) ||
	    cull_rows_init(&totals->chains, bytes))
		return -ENOMEM;
	return emit_totals_init(&totals->emit, out, compress, nodes);
}

static struct cull_row *cull_row_at(const struct cull_rows *rows,
				    uint32_t number)
{
	DEBUG_ASSERT(number > 0 && number <= rows->count);
	return (struct cull_row *)rows->rows.at + number;
}

/* NULL: no memory. */
static struct cull_row *cull_row(struct cull_rows *rows, uint32_t context,
				 uint32_t other)
{
	uint64_t hash = (((uint64_t)context << 32 | other) + 1) *
			UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *head = rows->heads + (hash >> 40) % CULL_BUCKETS;
	uint32_t number;
	struct cull_row *row;

	for (number = *head; number; number = row->next) {
		row = cull_row_at(rows, number);
		if (row->context == context && row->other == other)
			return row;
	}
	number = rows->count + 1;
	if (!vector_reach(&rows->rows, (number + UINT64_C(1)) * sizeof(*row)))
		return NULL;
	rows->count = number;
	row = cull_row_at(rows, number);
	*row = (struct cull_row){
		.context = context, .other = other, .next = *head,
	};
	DEBUG_ASSERT(*head < number);
	*head = number;
	return row;
}

static void cull_rows_clear(struct cull_rows *rows)
{
	if (rows->count)
		memset(rows->heads, 0, CULL_BUCKETS * sizeof(*rows->heads));
	rows->count = 0;
}

static void cull_count_classes(struct cull_totals *totals,
			       const struct cull_block *block,
			       uint64_t lifetime_ns, uint64_t ticks)
{
	uint64_t *size = totals->size[block_table_class_of(block->size)];
	uint64_t *lifetime =
		totals->lifetime[block_table_class_of(lifetime_ns)];

	size[GT_SIZE_ALLOCATIONS] += block->amount.blocks;
	size[GT_SIZE_BYTES] += block->amount.bytes;
	size[GT_SIZE_FREES] += block->amount.blocks;
	size[GT_SIZE_FREED_BYTES] += block->amount.bytes;
	size[GT_SIZE_TEMPORARY] += block->temporary;
	size[GT_SIZE_LIFETIME] += ticks;
	lifetime[GT_LIFETIME_BLOCKS] += block->amount.blocks;
	lifetime[GT_LIFETIME_BYTES] += block->amount.bytes;
}

static void cull_count_row(uint64_t value[CULL_ROW_VALUES],
			   const struct cull_block *block, uint64_t ticks)
{
	if (!value[GT_TOTALS_ALLOCATIONS] ||
	    block->tick < value[GT_TOTALS_FIRST])
		value[GT_TOTALS_FIRST] = block->tick;
	value[GT_TOTALS_LAST] = base_max(value[GT_TOTALS_LAST], block->tick);
	value[GT_TOTALS_ALLOCATIONS] += block->amount.blocks;
	value[GT_TOTALS_BYTES] += block->amount.bytes;
	value[GT_TOTALS_TEMPORARY] += block->temporary;
	value[GT_TOTALS_LIFETIME] += ticks;
}

bool cull_totals_add(struct cull_totals *totals,
		     const struct cull_block *block, uint64_t lifetime_ns)
{
	uint64_t ticks = weight_lifetime(block->lifetime, block->amount.blocks,
					 totals->mean);
	struct cull_row *row = cull_row(&totals->blocks, block->context,
					block->thread);
	struct cull_row *freed = !row || !totals->has_freed ? NULL :
		cull_row(&totals->freed, block->context, block->by);

	if (!row || (totals->has_freed && !freed))
		return false;
	row->ring = block->ring;
	cull_count_row(row->value, block, ticks);
	if (freed) {
		freed->value[GT_FREED_BLOCKS] += block->amount.blocks;
		freed->value[GT_FREED_BYTES] += block->amount.bytes;
		freed->value[GT_FREED_LIFETIME] += ticks;
	}
	cull_count_classes(totals, block, lifetime_ns, ticks);
	totals->count++;
	totals->news = true;
	return true;
}

bool cull_totals_reach_chain(struct cull_totals *totals, uint32_t context)
{
	return cull_row(&totals->chains, context, 0) != NULL;
}

void cull_totals_chain(struct cull_totals *totals, const struct chain *chain,
		       uint64_t lifetime)
{
	struct cull_row *row = cull_row(&totals->chains, chain->cost, 0);
	uint64_t *value = row->value;

	value[GT_CHAINS_COUNT]++;
	value[GT_CHAINS_BLOCKS] += chain->length;
	value[GT_CHAINS_LONGEST] = base_max(value[GT_CHAINS_LONGEST],
					    chain->length);
	value[GT_CHAINS_FIRST_BYTES] += chain->first_size;
	value[GT_CHAINS_LAST_BYTES] += chain->last_size;
	value[GT_CHAINS_LARGEST] = base_max(value[GT_CHAINS_LARGEST],
					    chain->last_size);
	value[GT_CHAINS_MOVES] += chain->moves;
	value[GT_CHAINS_COPIED_BYTES] += chain->copied_bytes;
	value[GT_CHAINS_LIFETIME] += lifetime;
	totals->news = true;
}

/* Writes the context's own peak over all threads, once each time. */
static void cull_report_own_peak(struct cull_totals *totals,
				 const struct block_table *table,
				 uint32_t number)
{
	struct block_table_figure *figure =
		block_table_figure_at(table, number);
	uint64_t value[GT_TOTALS_VALUES] = { 0 };
	struct block_table_figure whole;

	if (figure->reported == totals->reported)
		return;
	figure->reported = totals->reported;
	whole = block_table_rounded_figure(table, number);
	value[GT_TOTALS_OWN_PEAK_BYTES] = whole.sum.peak_bytes;
	value[GT_TOTALS_OWN_PEAK_BLOCKS] = whole.sum.peak_blocks;
	value[GT_TOTALS_OWN_PEAK_STAMP] = whole.sum.peak_tick;
	emit_totals_row(&totals->emit, figure->context, 0, value);
}

/* Takes the integer part out of a sum; the fraction stays for the next time. */
static uint64_t cull_take_whole(uint64_t *sum, unsigned bits)
{
	uint64_t whole = *sum >> bits;

	*sum -= whole << bits;
	return whole;
}

static void cull_report_classes(struct cull_totals *totals)
{
	unsigned blocks = weight_block_bits(totals->mean);
	unsigned bytes = weight_byte_bits(totals->mean);
	const unsigned of_size[GT_SIZE_VALUES] = {
		[GT_SIZE_ALLOCATIONS] = blocks, [GT_SIZE_BYTES] = bytes,
		[GT_SIZE_FREES] = blocks, [GT_SIZE_FREED_BYTES] = bytes,
	};
	const unsigned of_lifetime[GT_LIFETIME_VALUES] = {
		[GT_LIFETIME_BLOCKS] = blocks, [GT_LIFETIME_BYTES] = bytes,
	};
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
	unsigned i, k;

	for (i = 0; i < GT_CLASSES; i++) {
		for (k = 0; k < GT_SIZE_VALUES; k++)
			size[i][k] = cull_take_whole(&totals->size[i][k],
						     of_size[k]);
		for (k = 0; k < GT_LIFETIME_VALUES; k++)
			lifetime[i][k] = cull_take_whole(
				&totals->lifetime[i][k], of_lifetime[k]);
	}
	emit_totals_classes(totals->emit.out, size, lifetime);
}

static void cull_report_block(struct cull_totals *totals,
			      const struct cull_row *row, uint32_t thread,
			      struct block_table_figure *figure)
{
	uint64_t value[GT_TOTALS_VALUES] = { 0 };

	memcpy(value, row->value, (GT_TOTALS_LAST + 1) * sizeof(*value));
	value[GT_TOTALS_ALLOCATIONS] = weight_next(
		value[GT_TOTALS_ALLOCATIONS], weight_block_bits(totals->mean),
		&figure->rest_blocks);
	value[GT_TOTALS_BYTES] = weight_next(value[GT_TOTALS_BYTES],
					     weight_byte_bits(totals->mean),
					     &figure->rest_bytes);
	value[GT_TOTALS_FREES] = value[GT_TOTALS_ALLOCATIONS];
	value[GT_TOTALS_FREED_BYTES] = value[GT_TOTALS_BYTES];
	emit_totals_row(&totals->emit, row->context, thread, value);
}

static void cull_report_freed(struct cull_totals *totals,
			      const struct cull_row *row,
			      struct block_table_figure *figure)
{
	const uint64_t value[GT_FREED_VALUES] = {
		[GT_FREED_BLOCKS] = weight_next(row->value[GT_FREED_BLOCKS],
						weight_block_bits(totals->mean),
						&figure->rest_freed),
		[GT_FREED_BYTES] = weight_next(row->value[GT_FREED_BYTES],
					       weight_byte_bits(totals->mean),
					       &figure->rest_freed_bytes),
		[GT_FREED_LIFETIME] = row->value[GT_FREED_LIFETIME],
	};

	emit_totals_row(&totals->emit, row->context, row->other, value);
}

void cull_totals_report(struct cull_totals *totals, struct block_table *table,
			uint32_t (*number)(void *owner, uint32_t ring,
					   uint32_t serial), void *owner)
{
	uint32_t i, n;	/* n: number of the context, which has one */

	if (!totals->news)
		return;
	totals->news = false;
	totals->reported++;
	cull_report_classes(totals);
	emit_totals_begin(&totals->emit, GT_TOTALS);
	for (i = 1; i <= totals->blocks.count; i++) {
		const struct cull_row *row = cull_row_at(&totals->blocks, i);

		n = block_table_figure_number(table, row->context);
		DEBUG_ASSERT(n != 0);
		cull_report_block(totals, row,
				  number(owner, row->ring, row->other),
				  block_table_figure_at(table, n));
		cull_report_own_peak(totals, table, n);
	}
	emit_totals_end(&totals->emit);
	emit_totals_begin(&totals->emit, GT_FREED);
	for (i = 1; i <= totals->freed.count; i++) {
		const struct cull_row *row = cull_row_at(&totals->freed, i);

		n = block_table_figure_number(table, row->context);
		DEBUG_ASSERT(n != 0);
		cull_report_freed(totals, row, block_table_figure_at(table, n));
	}
	emit_totals_end(&totals->emit);
	emit_totals_begin(&totals->emit, GT_CHAINS);
	for (i = 1; i <= totals->chains.count; i++) {
		const struct cull_row *row = cull_row_at(&totals->chains, i);

		emit_totals_row(&totals->emit, row->context, 0, row->value);
	}
	emit_totals_end(&totals->emit);
	cull_rows_clear(&totals->chains);
	cull_rows_clear(&totals->blocks);
	cull_rows_clear(&totals->freed);
}
