/*
 * emit_depth.h: cuts contexts to their innermost N frames (--depth N). The
 * recorder only: threads still capture and cache full stacks.
 *
 * Nodes of cut stacks belong to the recorder. Their ids follow those of the
 * tree that threads build; their root is GT_STOP_DEPTH.
 */
#ifndef GNOMON_EMIT_DEPTH_H
#define GNOMON_EMIT_DEPTH_H

#include <stdint.h>

#include "unwind/base/assertion.h"

#include "cli/trace/format/trace_format.h"

struct emit_depth {
	const struct gl_node *whole;	/* the threads' nodes */
	uint32_t first;		/* id of our first node: theirs are below */
	uint32_t keep;		/* frames; 0: nothing is cut */
	uint32_t count, max;	/* of ours */
	uint32_t mask;		/* of the table */
	struct gl_node *nodes;	/* ours */
	uint32_t *table;	/* our nodes by parent and address: number +
				 * 1 */
	uint32_t *known;	/* by id of their node: the cut node; 0:
				 * unknown */
	uintptr_t *frames;	/* `keep` of them */
};

/* Ids of `whole` are below `max`. Memory from zeroed_alloc. 0 or -ENOMEM. */
int emit_depth_init(struct emit_depth *cut, const struct gl_node *whole,
		    uint32_t max, uint32_t keep);

/* The cut context for this one; GT_STOP_NO_MEMORY when there is no room for
 * more. */
uint32_t emit_depth_context(struct emit_depth *cut, uint32_t id);

/* A node, of theirs or ours. */
static inline const struct gl_node *
emit_depth_node(const struct emit_depth *cut, uint32_t id)
{
	DEBUG_ASSERT(id < cut->first || id - cut->first < cut->count);
	return id < cut->first ? &cut->whole[id] :
				 &cut->nodes[id - cut->first];
}

/* All ids are below this limit. */
static inline uint32_t emit_depth_limit(const struct emit_depth *cut)
{
	return cut->first + cut->max;
}

#endif
