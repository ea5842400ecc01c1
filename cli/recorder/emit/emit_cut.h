/*
 * emit_cut.h: --depth N: contexts with no more than their innermost N frames.
 * The writer only: threads take whole stacks, and remember them, as always.
 *
 * The nodes of stacks that were cut are the writer's own. They have ids behind
 * those of the tree that threads make; their root is GT_STOP_DEPTH.
 */
#ifndef GNOMON_EMIT_CUT_H
#define GNOMON_EMIT_CUT_H

#include <stdint.h>

#include "unwind/claim.h"

#include "cli/trace/format/trace_format.h"

struct emit_cut {
	const struct gl_node *whole;	/* the threads' nodes */
	uint32_t first;		/* id of the first of ours: theirs are below */
	uint32_t keep;		/* frames; 0: nothing is cut */
	uint32_t count, max;	/* of ours */
	uint32_t mask;		/* of the table */
	struct gl_node *nodes;	/* ours */
	uint32_t *table;	/* of ours by parent and address: number + 1 */
	uint32_t *known;	/* by id of theirs: what it became, 0: unknown */
	uintptr_t *frames;	/* `keep` of them */
};

/* `max`: ids of `whole` are below it. Memory from zeroed_alloc. 0 or -ENOMEM.
 */
int emit_cut_init(struct emit_cut *cut, const struct gl_node *whole,
		  uint32_t max, uint32_t keep);

/* The context that takes the place of this one; GT_STOP_NO_MEMORY when no more
 * can be made. */
uint32_t emit_cut_context(struct emit_cut *cut, uint32_t id);

/* A node, of theirs or ours. */
static inline const struct gl_node *emit_cut_node(const struct emit_cut *cut,
						  uint32_t id)
{
	CLAIM_FULL(id < cut->first || id - cut->first < cut->count);
	return id < cut->first ? &cut->whole[id] :
				 &cut->nodes[id - cut->first];
}

/* Ids are below it. */
static inline uint32_t emit_cut_limit(const struct emit_cut *cut)
{
	return cut->first + cut->max;
}

#endif
