/*
 * chain.h: one realloc chain: a block and the blocks that realloc made of
 * it. Used by the reader (chains.h) and by code that removes blocks from a
 * trace: the recorder (live_blocks/cull_chains.h) and `strip`.
 *
 * Where blocks of a chain are missing in the trace, EXTRA events describe the
 * gap (docs/FORMAT.md): struct chain_gap. In this drawing C is left out, then B
 * and C, then C and D:
 *
 *	A ─▶ B ─LEAVES     RESUMES─▶ D
 *	A ─LEAVES          RESUMES─▶ D
 *	A ─▶ B ─LEAVES        ENDS
 */
#ifndef GNOMON_CHAIN_H
#define GNOMON_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/event.h"
#include "cli/trace/format/trace_format.h"

/* A chain that has not ended. */
struct chain {
	uint64_t alloc;		/* allocation time of the first block (stamp) */
	uint64_t first_size;
	uint64_t last_size;
	uint64_t last_address;
	uint64_t moves;
	uint64_t copied_bytes;
	uint64_t length;	/* blocks so far; 0: a free entry */
	uint32_t cost;		/* of the first block, or CONTEXT_NO_COST; in a
				 * free entry the next free one */
	uint32_t pending;	/* for selection.c */
	bool mmapped;		/* the last block has a mapping of its own */
};

/* The contents of an EXTRA about a chain. */
struct chain_gap {
	uint64_t number;	/* of the chain, not 0 */
	uint64_t size;		/* RESUMES: of the first block; ENDS: of the
				 * last block */
	uint64_t age;		/* RESUMES: ticks since the first block was
				 * allocated */
	uint64_t copied_bytes;
	uint32_t length, moves;	/* saturated at UINT32_MAX */
};

/* The chain gets another block. If both blocks have a mapping of their own,
 * mremap moves the pages and no bytes are copied. */
static inline void chain_step(struct chain *chain, uint64_t address,
			      uint64_t size, bool mmapped)
{
	if (address != chain->last_address) {
		chain->moves++;
		if (!chain->mmapped || !mmapped)
			chain->copied_bytes += size < chain->last_size ?
				size : chain->last_size;
	}
	chain->length++;
	chain->last_size = size;
	chain->last_address = address;
	chain->mmapped = mmapped;
}

static inline struct chain_gap chain_gap_of(const struct trace_event *event)
{
	uint32_t length = (uint32_t)event->args[1];
	uint64_t moves = event->args[1] >> 32;

	return (struct chain_gap){
		.number = event->args[0], .size = event->size,
		.age = event->args[2], .copied_bytes = event->args[3],
		.length = length > 0 ? length : 1,
		.moves = (uint32_t)(moves < length ? moves : length),
	};
}

/* The second argument of the EXTRA. Values that do not fit are saturated. */
static inline uint64_t chain_gap_counts(uint64_t length, uint64_t moves)
{
	length = length < UINT32_MAX ? length : UINT32_MAX;
	return length | (moves < length ? moves : length) << 32;
}

#endif
