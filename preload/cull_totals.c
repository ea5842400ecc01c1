/*
 * cull_totals.c: see cull_totals.h. Rows of a trace add up, so what was told
 * is forgotten: only contexts that had blocks left out since the last time
 * take memory. The writer only.
 */
#include "preload/cull_totals.h"

#include <errno.h>
#include <string.h>

#include "preload/base.h"

#define CULL_BUCKETS 65536u
#define CULL_ROWS_PART 16	/* of the reserve */

static int cull_rows_init(struct cull_rows *rows, struct reserve *reserve)
{
	if (reserve_table(reserve, &rows->heads,
			  CULL_BUCKETS * sizeof(uint32_t)) ||
	    reserve_table(reserve, &rows->rows,
			  reserve->size / CULL_ROWS_PART) ||
	    !reserve_reach(&rows->heads, rows->heads.size))
		return -ENOMEM;
	return 0;
}

int cull_totals_init(struct cull_totals *totals, struct reserve *reserve,
		     struct chunk_out *out, struct compress *compress,
		     struct emit_node *nodes, bool has_freed)
{
	totals->has_freed = has_freed;
	if (cull_rows_init(&totals->blocks, reserve) ||
	    cull_rows_init(&totals->freed, reserve))
		return -ENOMEM;
	return emit_totals_init(&totals->emit, reserve, out, compress, nodes);
}

static struct cull_row *cull_row_at(const struct cull_rows *rows,
				    uint32_t number)
{
	return (struct cull_row *)rows->rows.at + number;
}

/* NULL: no memory. */
static struct cull_row *cull_row(struct cull_rows *rows, uint32_t context,
				 uint32_t other)
{
	uint64_t hash = (((uint64_t)context << 32 | other) + 1) *
			UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *head = (uint32_t *)rows->heads.at +
			 (hash >> 40) % CULL_BUCKETS;
	uint32_t number;
	struct cull_row *row;

	for (number = *head; number; number = row->next) {
		row = cull_row_at(rows, number);
		if (row->context == context && row->other == other)
			return row;
	}
	number = rows->count + 1;
	if (!reserve_reach(&rows->rows, (number + UINT64_C(1)) * sizeof(*row)))
		return NULL;
	rows->count = number;
	row = cull_row_at(rows, number);
	*row = (struct cull_row){
		.context = context, .other = other, .next = *head,
	};
	*head = number;
	return row;
}

static void cull_rows_clear(struct cull_rows *rows)
{
	if (rows->count)
		memset(rows->heads.at, 0, rows->heads.size);
	rows->count = 0;
}

static void cull_count_classes(struct cull_totals *totals,
			       const struct cull_block *block,
			       uint64_t lifetime_ns)
{
	uint64_t *size = totals->size[ledger_class_of(block->size)];
	uint64_t *lifetime = totals->lifetime[ledger_class_of(lifetime_ns)];

	size[GT_SIZE_ALLOCATIONS]++;
	size[GT_SIZE_BYTES] += block->size;
	size[GT_SIZE_FREES]++;
	size[GT_SIZE_FREED_BYTES] += block->size;
	size[GT_SIZE_TEMPORARY] += block->temporary;
	size[GT_SIZE_LIFETIME] += block->lifetime;
	lifetime[GT_LIFETIME_BLOCKS]++;
	lifetime[GT_LIFETIME_BYTES] += block->size;
}

bool cull_totals_add(struct cull_totals *totals,
		     const struct cull_block *block, uint64_t lifetime_ns)
{
	struct cull_row *row = cull_row(&totals->blocks, block->context,
					block->thread);
	struct cull_row *freed = !row || !totals->has_freed ? NULL :
		cull_row(&totals->freed, block->context, block->by);
	uint64_t *value;

	if (!row || (totals->has_freed && !freed))
		return false;
	row->ring = block->ring;
	value = row->value;
	if (!value[GT_TOTALS_ALLOCATIONS] ||
	    block->tick < value[GT_TOTALS_FIRST])
		value[GT_TOTALS_FIRST] = block->tick;
	value[GT_TOTALS_LAST] = base_max(value[GT_TOTALS_LAST], block->tick);
	value[GT_TOTALS_ALLOCATIONS]++;
	value[GT_TOTALS_BYTES] += block->size;
	value[GT_TOTALS_FREES]++;
	value[GT_TOTALS_FREED_BYTES] += block->size;
	value[GT_TOTALS_TEMPORARY] += block->temporary;
	value[GT_TOTALS_LIFETIME] += block->lifetime;
	if (freed) {
		freed->value[GT_FREED_BLOCKS]++;
		freed->value[GT_FREED_BYTES] += block->size;
		freed->value[GT_FREED_LIFETIME] += block->lifetime;
	}
	cull_count_classes(totals, block, lifetime_ns);
	totals->count++;
	totals->bytes += block->size;
	totals->news = true;
	return true;
}

/* The context's own maximum, once each time; all threads together. */
static void cull_tell_own_peak(struct cull_totals *totals,
			       struct ledger_figure *figure)
{
	uint64_t value[GT_TOTALS_VALUES] = { 0 };

	if (!figure || figure->told == totals->told)
		return;
	figure->told = totals->told;
	value[GT_TOTALS_OWN_PEAK_BYTES] = figure->sum.peak_bytes;
	value[GT_TOTALS_OWN_PEAK_BLOCKS] = figure->sum.peak_blocks;
	value[GT_TOTALS_OWN_PEAK_STAMP] = figure->sum.peak_tick;
	emit_totals_row(&totals->emit, figure->context, 0, value);
}

void cull_totals_tell(struct cull_totals *totals, struct ledger *ledger,
		      uint32_t (*number)(void *owner, uint32_t ring,
					 uint32_t serial), void *owner)
{
	uint64_t value[GT_TOTALS_VALUES] = { 0 };
	uint32_t i;

	if (!totals->news)
		return;
	totals->news = false;
	totals->told++;
	emit_totals_classes(totals->emit.out, totals->size, totals->lifetime);
	memset(totals->size, 0, sizeof(totals->size));
	memset(totals->lifetime, 0, sizeof(totals->lifetime));
	emit_totals_begin(&totals->emit, GT_TOTALS);
	for (i = 1; i <= totals->blocks.count; i++) {
		const struct cull_row *row = cull_row_at(&totals->blocks, i);

		memcpy(value, row->value, sizeof(row->value));
		emit_totals_row(&totals->emit, row->context,
				number(owner, row->ring, row->other), value);
		cull_tell_own_peak(totals,
				   ledger_figure_of(ledger, row->context));
	}
	emit_totals_end(&totals->emit);
	emit_totals_begin(&totals->emit, GT_FREED);
	for (i = 1; i <= totals->freed.count; i++) {
		const struct cull_row *row = cull_row_at(&totals->freed, i);

		emit_totals_row(&totals->emit, row->context, row->other,
				row->value);
	}
	emit_totals_end(&totals->emit);
	cull_rows_clear(&totals->blocks);
	cull_rows_clear(&totals->freed);
}
