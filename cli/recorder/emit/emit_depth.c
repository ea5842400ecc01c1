/*
 * emit_depth.c: see emit_depth.h.
 *
 * A stack within the depth keeps its node. For a deeper stack, the innermost
 * frames are added below GT_STOP_DEPTH, outermost first. The result is cached,
 * so a context is cut once.
 *
 * I1: as in the threads' tree, a node's parent has a smaller id.
 */
#include "cli/recorder/emit/emit_depth.h"

#include "cli/base/hash.h"

#include <errno.h>

#include "cli/recorder/base/zeroed.h"
#include "preload/base/base.h"
#include "unwind/base/assertion.h"

#define EMIT_DEPTH_SHARE 4	/* our nodes: this fraction of the threads'
				 * nodes */

int emit_depth_init(struct emit_depth *cut, const struct gl_node *whole,
		    uint32_t max, uint32_t keep)
{
	cut->whole = whole;
	cut->first = max;
	if (!keep)
		return 0;
	cut->keep = keep;
	cut->max = max / EMIT_DEPTH_SHARE;
	/* no more than half full */
	for (cut->mask = 1; cut->mask < 2 * cut->max; cut->mask *= 2)
		;
	DEBUG_ASSERT(!(cut->mask & (cut->mask - 1)));
	cut->nodes = (struct gl_node *)zeroed_alloc(cut->max *
						    sizeof(*cut->nodes));
	cut->table = zeroed_alloc(cut->mask * sizeof(*cut->table));
	cut->known = zeroed_alloc(max * sizeof(*cut->known));
	cut->frames = zeroed_alloc(keep * sizeof(*cut->frames));
	cut->mask--;
	return cut->nodes && cut->table && cut->known && cut->frames ?
		       0 : -ENOMEM;
}

static uint32_t emit_depth_child(struct emit_depth *cut, uint32_t parent,
				 uint64_t address)
{
	uint64_t hash = hash_fixed(address ^ (uint64_t)parent << 32);
	uint32_t *entry;
	struct gl_node *node;

	for (;; hash++) {
		entry = &cut->table[hash & cut->mask];
		DEBUG_ASSERT(*entry <= cut->count);
		if (!*entry)
			break;
		node = &cut->nodes[*entry - 1];
		if (node->parent == parent && node->address == address)
			return cut->first + *entry - 1;
	}
	if (cut->count == cut->max)
		return GT_STOP_NO_MEMORY;
	node = &cut->nodes[cut->count++];
	node->parent = parent;
	node->address = address;
	*entry = cut->count;
	DEBUG_ASSERT(2 * (uint64_t)cut->count <= cut->mask + UINT64_C(1));
	return cut->first + cut->count - 1;
}

static uint32_t emit_depth_make(struct emit_depth *cut, uint32_t id)
{
	uint32_t at = id, n = 0, parent;

	while (at >= GT_STOP_COUNT && n < cut->keep) {
		cut->frames[n++] = order_read(&cut->whole[at], address);
		parent = order_read(&cut->whole[at], parent);
		/* damage, as in emit_node.c */
		at = parent < at ? parent : (uint32_t)GT_STOP_OTHER;
	}
	DEBUG_ASSERT(n <= cut->keep);
	if (at < GT_STOP_COUNT)
		return id;
	for (at = GT_STOP_DEPTH; n > 0 && at != GT_STOP_NO_MEMORY; n--)
		at = emit_depth_child(cut, at, cut->frames[n - 1]);
	return at;
}

uint32_t emit_depth_context(struct emit_depth *cut, uint32_t id)
{
	if (!cut->keep || id < GT_STOP_COUNT || id >= cut->first)
		return id;
	if (unlikely(!cut->known[id]))
		cut->known[id] = emit_depth_make(cut, id);
	DEBUG_ASSERT(cut->known[id] < cut->first + cut->max);
	return cut->known[id];
}
