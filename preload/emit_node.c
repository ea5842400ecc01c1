/*
 * emit_node.c: which nodes are in the trace, and writing those that are not.
 * The writer only.
 *
 * I1: a node's parent has a smaller id: it was there first. So a chain that
 *     does not descend is damage, and ends at GT_STOP_OTHER.
 * I2: a set bit of `emitted` means: in the trace, or in the batch.
 */
#include "preload/emit_node.h"

#include <errno.h>
#include <string.h>

#include "preload/area.h"
#include "preload/varint.h"

enum { EMIT_NODE_ID, EMIT_NODE_PARENT, EMIT_NODE_ADDRESS, EMIT_NODE_COLUMNS };

/* The reasons why walks end are never defined. */
static void emit_node_begin(struct emit_node *emit)
{
	emit->emitted[0] = (1u << GT_STOP_COUNT) - 1;
	emit->count = 0;
}

void emit_node_forget(struct emit_node *emit)
{
	memset(emit->emitted, 0, (emit_cut_limit(&emit->cut) / 64 + 1) *
					 sizeof(uint64_t));
	emit_node_begin(emit);
}

int emit_node_init(struct emit_node *emit, const struct gl_node *nodes,
		   uint32_t limit, uint32_t keep, struct chunk_out *out,
		   struct compress *compress)
{
	int err = emit_cut_init(&emit->cut, nodes, limit, keep);
	unsigned i;

	if (err)
		return err;
	emit->limit = limit;
	emit->out = out;
	emit->compress = compress;
	emit->emitted = area_alloc((emit_cut_limit(&emit->cut) / 64 + 1) *
				   sizeof(uint64_t));
	emit->batch = area_alloc(EMIT_NODE_BATCH * sizeof(uint32_t));
	if (!emit->emitted || !emit->batch)
		return -ENOMEM;
	for (i = 0; i < EMIT_NODE_COLUMNS; i++) {
		emit->column[i] = area_alloc(EMIT_NODE_BATCH * VARINT_MAX);
		if (!emit->column[i])
			return -ENOMEM;
	}
	emit_node_begin(emit);
	return 0;
}

static bool emit_node_has(const struct emit_node *emit, uint32_t id)
{
	return emit->emitted[id / 64] >> (id % 64) & 1;
}

static uint32_t emit_node_parent(const struct emit_node *emit, uint32_t id)
{
	uint32_t parent = emit_cut_node(&emit->cut, id)->parent;

	return parent < id ? parent : GT_STOP_OTHER;	/* I1 */
}

static uint32_t emit_node_distance(const struct emit_node *emit, uint32_t id)
{
	uint32_t n;

	for (n = 0; !emit_node_has(emit, id); n++)
		id = emit_node_parent(emit, id);
	return n;
}

/* A chain that is no longer than the batch. */
static void emit_node_chain(struct emit_node *emit, uint32_t id, uint32_t n)
{
	uint32_t at;

	if (emit->count + n > EMIT_NODE_BATCH)
		emit_node_flush(emit);
	for (at = emit->count + n; at > emit->count;
	     id = emit_node_parent(emit, id)) {
		emit->batch[--at] = id;
		emit->emitted[id / 64] |= UINT64_C(1) << (id % 64);
	}
	emit->count += n;
}

void emit_node_new(struct emit_node *emit, uint32_t id)
{
	uint32_t n = emit_node_distance(emit, id);

	while (n) {
		uint32_t outer = id, left = n;

		/* the outermost part first */
		for (; left > EMIT_NODE_BATCH; left--)
			outer = emit_node_parent(emit, outer);
		emit_node_chain(emit, outer, left);
		n -= left;
	}
}

void emit_node_flush(struct emit_node *emit)
{
	uint8_t *end[EMIT_NODE_COLUMNS];
	uint64_t last_address = 0;
	uint32_t last_id = 0, i;
	uint8_t *to;

	if (!emit->count)
		return;
	for (i = 0; i < EMIT_NODE_COLUMNS; i++)
		end[i] = emit->column[i];
	for (i = 0; i < emit->count; i++) {
		uint32_t id = emit->batch[i];
		uint64_t address = emit_cut_node(&emit->cut, id)->address;
		uint32_t parent = emit_node_parent(emit, id);

		end[EMIT_NODE_ID] = varint_put(end[EMIT_NODE_ID],
			varint_zigzag((int64_t)id - last_id));
		end[EMIT_NODE_PARENT] = varint_put(end[EMIT_NODE_PARENT],
			varint_zigzag((int64_t)id - parent));
		end[EMIT_NODE_ADDRESS] = varint_put(end[EMIT_NODE_ADDRESS],
			varint_zigzag(address - last_address));
		last_id = id;
		last_address = address;
	}
	to = varint_put(chunk_payload(emit->out), emit->count);
	for (i = 0; i < EMIT_NODE_COLUMNS; i++)
		to = compress_column(emit->compress, &emit->past[i], to,
				     emit->column[i], end[i] - emit->column[i]);
	/* a failure is kept in *out */
	chunk_write(emit->out, GT_CONTEXT, to, NULL);
	emit->total += emit->count;
	emit->count = 0;
}
