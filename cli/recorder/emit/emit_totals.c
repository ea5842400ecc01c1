/*
 * emit_totals.c: see emit_totals.h. Nodes are written before the rows that
 * refer to them. The recorder only.
 */
#include "cli/recorder/emit/emit_totals.h"

#include <errno.h>

#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/emit/varint.h"
#include "unwind/base/assertion.h"

#define EMIT_TOTALS_ROWS 4096	/* of a chunk */
#define EMIT_TOTALS_ROW_MAX ((2 + GT_TOTALS_VALUES) * VARINT_MAX)

int emit_totals_init(struct emit_totals *emit, struct chunk_out *out,
		     struct compress *compress, struct emit_node *nodes)
{
	emit->out = out;
	emit->compress = compress;
	emit->nodes = nodes;
	emit->column = zeroed_alloc(EMIT_TOTALS_ROWS * EMIT_TOTALS_ROW_MAX);
	return emit->column ? 0 : -ENOMEM;
}

void emit_totals_begin(struct emit_totals *emit, enum gt_chunk_type type)
{
	emit->type = type;
	emit->values = type == GT_TOTALS ? (unsigned)GT_TOTALS_VALUES :
		       type == GT_CHAINS ? (unsigned)GT_CHAINS_VALUES :
					   (unsigned)GT_FREED_VALUES;
	emit->to = emit->column;
	emit->count = 0;
	emit->context = 0;
}

void emit_totals_end(struct emit_totals *emit)
{
	const uint8_t *column = emit->column;
	uint8_t *to;

	if (!emit->count)
		return;
	emit_node_flush(emit->nodes);
	to = chunk_payload(emit->out);
	if (emit->type == GT_TOTALS)
		to = varint_put(to, GT_TOTALS_CONTEXTS);
	to = varint_put(to, emit->values);
	to = varint_put(to, emit->count);
	to = compress_column(emit->compress, &emit->past, to, column,
			     emit->to - column);
	chunk_write(emit->out, emit->type, to, NULL);
	emit_totals_begin(emit, emit->type);
}

void emit_totals_row(struct emit_totals *emit, uint32_t context,
		     uint32_t other, const uint64_t *value)
{
	unsigned i;

	if (emit->count == EMIT_TOTALS_ROWS)
		emit_totals_end(emit);
	context = emit_node_refer(emit->nodes, context);
	if (emit->type == GT_FREED)
		other = emit_node_refer(emit->nodes, other);
	DEBUG_ASSERT(emit->count < EMIT_TOTALS_ROWS);
	emit->to = varint_put(emit->to, varint_zigzag((int64_t)context -
						      emit->context));
	emit->to = varint_put(emit->to, other);
	for (i = 0; i < emit->values; i++)
		emit->to = varint_put(emit->to, value[i]);
	emit->context = context;
	emit->count++;
	DEBUG_ASSERT((size_t)(emit->to - emit->column) <=
		     emit->count * EMIT_TOTALS_ROW_MAX);
}

/* Whether a class has any value: it may have only frees, of blocks written
 * earlier. */
static bool emit_totals_has(const uint64_t *value, unsigned values)
{
	uint64_t any = 0;

	while (values--)
		any |= value[values];
	return any;
}

/* Writes one table of the classes that are not empty. */
static uint8_t *emit_totals_table(uint8_t *to, const uint64_t *value,
				  unsigned values)
{
	unsigned class, i, k = 0;

	for (class = 0; class < GT_CLASSES; class++)
		k += emit_totals_has(value + class * values, values);
	to = varint_put(to, values);
	to = varint_put(to, k);
	for (class = 0; class < GT_CLASSES; class++) {
		if (!emit_totals_has(value + class * values, values))
			continue;
		to = varint_put(to, class);
		for (i = 0; i < values; i++)
			to = varint_put(to, value[class * values + i]);
	}
	return to;
}

void emit_totals_classes(struct chunk_out *out,
			 uint64_t size[GT_CLASSES][GT_SIZE_VALUES],
			 uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES])
{
	uint8_t *to = varint_put(chunk_payload(out), GT_TOTALS_CLASSES);

	to = emit_totals_table(to, size[0], GT_SIZE_VALUES);
	to = emit_totals_table(to, lifetime[0], GT_LIFETIME_VALUES);
	chunk_write(out, GT_TOTALS, to, NULL);
}

void emit_totals_run(struct chunk_out *out,
		     const uint64_t value[GT_RUN_VALUES])
{
	uint8_t *to = varint_put(chunk_payload(out), GT_TOTALS_RUN);
	unsigned i;

	to = varint_put(to, GT_RUN_VALUES);
	for (i = 0; i < GT_RUN_VALUES; i++)
		to = varint_put(to, value[i]);
	chunk_write(out, GT_TOTALS, to, NULL);
}
