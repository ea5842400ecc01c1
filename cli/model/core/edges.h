/*
 * edges.h: from events to edges, the begins and ends of blocks. Pairs
 * allocations with frees, and follows reallocs. A sink decides what an edge
 * means: account.h for a trace that is read, the recorder's live heap for one
 * that is written.
 *
 *	events, by stamps ──▶ edges ──▶ alloc   a block is allocated
 *	                        │  └──▶ end     it was freed, moved, lost
 *	                        │  └──▶ odd     unpaired, repaired
 *	                      blocks, waiting, moving
 *
 * Pairing: stamps are right within a window. An allocation at an address that
 * is live waits for the free; a free of an address that is not live waits for
 * the allocation (pairing.h). After the window the event is unpaired: such a
 * free changes nothing else; such an allocation replaces the block, which can
 * no longer be there.
 *
 * Gap: where frees of unknown blocks are expected, they do not wait: the next
 * allocation at their address is another block, not a late one. They wait only
 * while events may be out of order by more than the window (beyond `settled`),
 * and then for an allocation that is older than the free.
 *
 * Reallocation: BEGIN marks the block as moving (a pending realloc). The block
 * stays live until DONE, or until its address is allocated again, which shows
 * that it was freed.
 *
 * One thread.
 */
#ifndef GNOMON_EDGES_H
#define GNOMON_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/pending_reallocs.h"
#include "cli/model/core/pairing.h"
#include "cli/trace/format/event.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

/* How a block ends. */
enum edge_end {
	EDGE_FREED,
	EDGE_MOVED,		/* by realloc, which made another block */
	EDGE_LOST		/* it can no longer be there, but no free
				 * came */
};

enum edge_odd {
	EDGE_UNPAIRED,		/* an event without its counterpart */
	EDGE_UNKNOWN,		/* a free, or the end of a realloc, of an
				 * unknown block */
	EDGE_REPAIRED		/* two events that came out of order */
};

/*
 * All functions are set. `lane`: model_lane, or similar. `chain`: the value
 * that `end` returned for the block from which a realloc made this one; 0:
 * none.
 */
struct edges_sink {
	/* A block was allocated. The sink fills in its sequence, thread and
	 * cost. */
	void (*alloc)(void *owner, struct block *block, uint32_t lane,
		      uint32_t context, uint32_t chain);
	/* The block ends. `by`: the context that frees, 0: not known. For
	 * EDGE_MOVED, returns the chain that continues; 0: none. If the block
	 * is not odd and not lost, the current event ends it; otherwise `ender`
	 * has the lane. */
	uint32_t (*end)(void *owner, struct block *block, uint64_t stamp,
			uint32_t by, enum edge_end end);
	/* A chain that was held by a realloc has no block any more; 0: none. */
	void (*chain_lost)(void *owner, uint32_t chain, uint64_t stamp);
	void (*odd)(void *owner, enum edge_odd what, uint64_t stamp);
	/* There is no memory for this block. */
	void (*refused)(void *owner, uint32_t lane);
};

/* The pending realloc of a lane. */
struct edges_pending {
	uint64_t address;
	uint32_t chain;		/* of the block, once `released` */
	uint32_t by;		/* the context that calls realloc */
	/* if it differs from edges.generation, the block is not known any
	 * more; */
	uint32_t generation;
	uint32_t chains;	/* likewise the chain */
	bool active;
	bool found;		/* the block was known at BEGIN */
	bool released;		/* the address was already allocated again */
	bool unknown;		/* not found, and BEGIN does not wait for the
				 * block */
};

struct edges {
	struct blocks blocks;
	struct pairing waiting;
	const struct edges_sink *sink;
	void *owner;
	uint64_t settled;	/* up to this stamp events come in order, as far
				 * as stamps are right */
	bool gap;		/* some frees or allocations are left out on
				 * purpose: an event without its counterpart is
				 * no error */
	struct edges_pending *pending;	/* by lane */
	size_t lane_count;
	struct pending_reallocs by_block;	/* lanes by block with a pending
					 * realloc */
	/* During `end`: lane + 1 of the event that ends the block; 0: the
	 * current event. */
	uint32_t ender;
	uint32_t generation, chains;	/* of the blocks, of the chains */
};

/* `max`: see blocks.h. The sink has to stay valid. The caller sets
 * waiting.window, in ticks. False: no memory. */
bool edges_init(struct edges *edges, const struct edges_sink *sink,
		void *owner, size_t max);
void edges_free(struct edges *edges);
/* Call before the first event of a lane. False: no memory. */
bool edges_reach(struct edges *edges, uint32_t lane);
/* The lane belongs to another thread from now on. */
void edges_lane_ends(struct edges *edges, uint32_t lane, uint64_t stamp);
/* Gives up events that have waited longer than the window before this stamp. */
void edges_expire(struct edges *edges, uint64_t stamp);
/* Forgets all blocks and all waiting events, without calling `end`. */
void edges_forget(struct edges *edges);
/* Numbers of chains are not valid any more. */
void edges_forget_chains(struct edges *edges);
/* There are no more events: pending reallocs leave their blocks as they were,
 * and waiting events are given up. */
void edges_finish(struct edges *edges, uint64_t stamp);
/* To resume where another reader stopped: add a lane's pending realloc, and a
 * waiting event, the oldest first. False: they contradict the blocks. */
bool edges_put_pending(struct edges *edges, uint32_t lane,
		       const struct edges_pending *pending);
bool edges_put_waiting(struct edges *edges,
		       const struct pairing_entry *entry);
/* The realloc of a lane; meaningless unless `active`. */
const struct edges_pending *edges_pending_of(struct edges *edges,
					     uint32_t lane);

/* ---- for edges_event: the rare cases ---- */

void edges_allocate_live(struct edges *edges, uint32_t lane,
			 const struct trace_event *event, uint32_t chain,
			 struct block *block);
void edges_settle_free(struct edges *edges, uint32_t lane,
		       const struct trace_event *event);
void edges_free_unknown(struct edges *edges, uint32_t lane,
			const struct trace_event *event, struct block *block);
void edges_settle_allocation(struct edges *edges, uint64_t address);
void edges_realloc(struct edges *edges, uint32_t lane,
		   const struct trace_event *event);

/*
 * `sink` is edges->sink, passed again so that it is a compile-time constant and
 * the compiler can inline its functions.
 */
static inline __attribute__((always_inline)) void
edges_allocate(struct edges *edges, const struct edges_sink *sink,
	       uint32_t lane, const struct trace_event *event, uint32_t chain,
	       bool odd)
{
	struct block *block;
	int is_new;

	block = blocks_try_add(&edges->blocks, event->address, &is_new);
	if (__builtin_expect(!is_new, 0)) {
		edges_allocate_live(edges, lane, event, chain, block);
		return;
	}
	if (__builtin_expect(block == NULL, 0)) {
		edges->gap = true;
		sink->refused(edges->owner, lane);
		return;
	}
	*block = (struct block){
		.address = event->address,
		.size = event->size,
		.alloc = event->stamp,
		.layout = event->layout & BLOCK_LAYOUT,
		.odd = odd,
	};
	sink->alloc(edges->owner, block, lane, event->context, chain);
	if (__builtin_expect(edges->waiting.count > 0, 0))
		edges_settle_free(edges, lane, event);
}

static inline __attribute__((always_inline)) void
edges_deallocate(struct edges *edges, const struct edges_sink *sink,
		 uint32_t lane, const struct trace_event *event)
{
	struct block *block = blocks_find(&edges->blocks, event->address);

	if (__builtin_expect(block == NULL || block->pending, 0)) {
		edges_free_unknown(edges, lane, event, block);
		return;
	}
	DEBUG_ASSERT(block->address == event->address);
	sink->end(edges->owner, block, event->stamp, event->context,
		  EDGE_FREED);
	blocks_remove(&edges->blocks, block);
	if (__builtin_expect(edges->waiting.count > 0, 0))
		edges_settle_allocation(edges, event->address);
}

/* Time advances to this stamp: gives up events that have waited too long. */
static inline void edges_advance(struct edges *edges, uint64_t stamp)
{
	if (__builtin_expect(stamp > edges->waiting.expires, 0))
		edges_expire(edges, stamp < edges->settled ? stamp :
							     edges->settled);
}

/* I1 of edges.c, and the parts of the struct. With GNOMON_DEBUG_ASSERTS. */
bool edges_is_valid(const struct edges *edges);

/* An ALLOC of a block that continues this chain. */
void edges_resume(struct edges *edges, uint32_t lane,
		  const struct trace_event *event, uint32_t chain);
/* edges_event as a function, for callers with few events. */
void edges_take(struct edges *edges, uint32_t lane,
		const struct trace_event *event);

/* An event that is not EXTRA. `sink` is edges->sink. */
static inline __attribute__((always_inline)) void
edges_event(struct edges *edges, const struct edges_sink *sink, uint32_t lane,
	    const struct trace_event *event)
{
	DEBUG_ASSERT(lane < edges->lane_count);
	if (__builtin_expect(event->address == 0, 0))
		/* no recorder writes address 0 */
		sink->odd(edges->owner, EDGE_UNPAIRED, event->stamp);
	else if (event->kind == GT_ALLOC)
		edges_allocate(edges, sink, lane, event, 0, false);
	else if (event->kind == GT_FREE)
		edges_deallocate(edges, sink, lane, event);
	else
		edges_realloc(edges, lane, event);
}

#endif
