/*
 * emit_node.h: writes CONTEXT chunks. A node of the context tree is written
 * before the first event that refers to it, and after its parents. The recorder
 * only.
 */
#ifndef GNOMON_EMIT_NODE_H
#define GNOMON_EMIT_NODE_H

#include <stdint.h>

#include "preload/base/base.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_depth.h"
#include "unwind/base/layout.h"

/* Nodes of one chunk. */
#define EMIT_NODE_BATCH 32768

/* A node as read from the mapping. */
struct emit_node_copy {
	uint64_t address;
	uint32_t id, parent;
};

struct emit_node {
	struct emit_depth cut;	/* all nodes, cut or not */
	/* ids of the threads' nodes are below it: their pages are reserved */
	uint32_t limit;
	uint64_t *emitted;	/* one bit a node */
	struct emit_node_copy *batch;	/* not yet written, parents first */
	uint32_t count;
	uint64_t total;		/* written so far */
	uint8_t *column[3];
	struct compress_past past[3];
	struct chunk_out *out;
	struct compress *compress;
};

/* keep: innermost frames to keep of each context; 0: all. Memory from
 * zeroed_alloc. 0 or -ENOMEM. */
int emit_node_init(struct emit_node *emit, const struct gl_node *nodes,
		   uint32_t limit, uint32_t keep, struct chunk_out *out,
		   struct compress *compress);

/* Puts a new node and its new parents into the batch, writing it if full. */
void emit_node_new(struct emit_node *emit, uint32_t id);

/* The trace continues in another file: no node is in it yet. */
void emit_node_forget(struct emit_node *emit);

/* Writes the batch. Call before writing events that refer to it. */
void emit_node_flush(struct emit_node *emit);

/* The id to write for this context: its own id if it is valid and not too
 * deep. */
static inline uint32_t emit_node_refer(struct emit_node *emit, uint32_t id)
{
	if (unlikely(id >= emit->limit))
		return GT_STOP_OTHER;
	if (unlikely(emit->cut.keep))
		id = emit_depth_context(&emit->cut, id);
	if (unlikely(!(emit->emitted[id / 64] >> (id % 64) & 1)))
		emit_node_new(emit, id);
	return id;
}

/* I1 and I2 of emit_node.c hold for the batch. With GNOMON_DEBUG_ASSERTS. */
bool emit_node_is_valid(const struct emit_node *emit);

#endif
