/*
 * emit_node.c: tracks which nodes are in the trace, and writes the others. The
 * recorder only.
 *
 * The target may overwrite its nodes at any time. So each node is read once,
 * into the batch, and only the copy is used.
 *
 * I1: a node's parent has a smaller id, as it is older. So a chain whose ids do
 *     not decrease is damage, and ends at GT_STOP_OTHER.
 * I2: a set bit of `emitted` means: in the trace, or in the batch. The parent
 *     of a node in the batch is in the trace, or precedes it in the batch.
 */
#include "cli/recorder/emit/emit_node.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/emit/varint.h"
#include "preload/base/base.h"
#include "unwind/base/assertion.h"

enum { EMIT_NODE_ID, EMIT_NODE_PARENT, EMIT_NODE_ADDRESS, EMIT_NODE_COLUMNS };

/* Stop reasons (ids below GT_STOP_COUNT) need no record. */
static void emit_node_begin(struct emit_node *emit)
{
	emit->emitted[0] = (1u << GT_STOP_COUNT) - 1;
	emit->count = 0;
}

void emit_node_forget(struct emit_node *emit)
{
	memset(emit->emitted, 0, (emit_depth_limit(&emit->cut) / 64 + 1) *
					 sizeof(uint64_t));
	emit_node_begin(emit);
}

int emit_node_init(struct emit_node *emit, const struct gl_node *nodes,
		   uint32_t limit, uint32_t keep, struct chunk_out *out,
		   struct compress *compress)
{
	int err = emit_depth_init(&emit->cut, nodes, limit, keep);
	unsigned i;

	if (err)
		return err;
	emit->limit = limit;
	emit->out = out;
	emit->compress = compress;
	emit->emitted = zeroed_alloc((emit_depth_limit(&emit->cut) / 64 + 1) *
				   sizeof(uint64_t));
	emit->batch = zeroed_alloc(EMIT_NODE_BATCH * sizeof(*emit->batch));
	if (!emit->emitted || !emit->batch)
		return -ENOMEM;
	for (i = 0; i < EMIT_NODE_COLUMNS; i++) {
		emit->column[i] = zeroed_alloc(EMIT_NODE_BATCH * VARINT_MAX);
		if (!emit->column[i])
			return -ENOMEM;
	}
	emit_node_begin(emit);
	return 0;
}

static bool emit_node_has(const struct emit_node *emit, uint32_t id)
{
	DEBUG_ASSERT(id < emit_depth_limit(&emit->cut));
	return emit->emitted[id / 64] >> (id % 64) & 1;
}

static void emit_node_read(const struct emit_node *emit, uint32_t id,
			   struct emit_node_copy *copy)
{
	const struct gl_node *node = emit_depth_node(&emit->cut, id);
	uint32_t parent = order_read(node, parent);

	copy->id = id;
	copy->parent = parent < id ? parent : (uint32_t)GT_STOP_OTHER; /* I1 */
	copy->address = order_read(node, address);
}

/* Number of nodes outward until one that was emitted. */
static uint32_t emit_node_distance(const struct emit_node *emit, uint32_t id)
{
	struct emit_node_copy copy;
	uint32_t n;

	for (n = 0; !emit_node_has(emit, id); n++) {
		emit_node_read(emit, id, &copy);
		id = copy.parent;
	}
	return n;
}

/* Adds the chain from `id` outward, n nodes at most, to the batch, which has
 * room; outermost first. If the target made the chain longer meanwhile, the
 * outermost node gets GT_STOP_OTHER as parent: I2. */
static void emit_node_chain(struct emit_node *emit, uint32_t id, uint32_t n)
{
	struct emit_node_copy *at = emit->batch + emit->count, *end = at + n;
	struct emit_node_copy *first = end;

	assert(emit->count + n <= EMIT_NODE_BATCH);
	for (; first > at && !emit_node_has(emit, id); id = first->parent)
		emit_node_read(emit, id, --first);
	DEBUG_ASSERT(first >= at);
	if (first == end)
		return;
	if (!emit_node_has(emit, id))
		first->parent = GT_STOP_OTHER;
	memmove(at, first, (end - first) * sizeof(*at));
	emit->count += end - first;
	for (end = emit->batch + emit->count; at < end; at++)
		emit->emitted[at->id / 64] |= UINT64_C(1) << (at->id % 64);
	DEBUG_ASSERT(emit->count <= EMIT_NODE_BATCH);
}

/* Adds a single node below GT_STOP_OTHER, so that the id is defined. */
static void emit_node_alone(struct emit_node *emit, uint32_t id)
{
	if (emit->count == EMIT_NODE_BATCH)
		emit_node_flush(emit);
	emit_node_read(emit, id, &emit->batch[emit->count]);
	emit->batch[emit->count++].parent = GT_STOP_OTHER;
	emit->emitted[id / 64] |= UINT64_C(1) << (id % 64);
}

void emit_node_new(struct emit_node *emit, uint32_t id)
{
	uint32_t n = emit_node_distance(emit, id);
	struct emit_node_copy copy;

	while (n) {
		uint32_t outer = id, left = n;

		/* the outermost part first */
		for (; left > EMIT_NODE_BATCH; left--) {
			if (emit_node_has(emit, outer))
				break;
			emit_node_read(emit, outer, &copy);
			outer = copy.parent;
		}
		left = base_min(left, EMIT_NODE_BATCH);
		DEBUG_ASSERT(left > 0 && left <= n);
		if (emit->count + left > EMIT_NODE_BATCH)
			emit_node_flush(emit);
		emit_node_chain(emit, outer, left);
		n -= left;
	}
	/* a chain read in parts may have changed in between */
	if (unlikely(!emit_node_has(emit, id)))
		emit_node_alone(emit, id);
	DEBUG_ASSERT(emit_node_has(emit, id)); /* I2 */
}

#ifdef GNOMON_DEBUG_ASSERTS
bool emit_node_is_valid(const struct emit_node *emit)
{
	uint32_t i;

	for (i = 0; i < emit->count && i < EMIT_NODE_BATCH; i++)
		if (emit->batch[i].parent >= emit->batch[i].id ||	/* I1 */
		    !emit_node_has(emit, emit->batch[i].id) ||
		    !emit_node_has(emit, emit->batch[i].parent))	/* I2 */
			return false;
	return emit->count <= EMIT_NODE_BATCH;
}
#endif

void emit_node_flush(struct emit_node *emit)
{
	uint8_t *end[EMIT_NODE_COLUMNS];
	uint64_t last_address = 0;
	uint32_t last_id = 0, i;
	uint8_t *to;

	if (!emit->count)
		return;
	DEBUG_ASSERT(emit_node_is_valid(emit));
	for (i = 0; i < EMIT_NODE_COLUMNS; i++)
		end[i] = emit->column[i];
	for (i = 0; i < emit->count; i++) {
		uint32_t id = emit->batch[i].id;
		uint64_t address = emit->batch[i].address;
		uint32_t parent = emit->batch[i].parent;

		DEBUG_ASSERT(parent < id);	/* I1 */
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
	/* *out keeps the error */
	chunk_write(emit->out, GT_CONTEXT, to, NULL);
	emit->total += emit->count;
	emit->count = 0;
}
