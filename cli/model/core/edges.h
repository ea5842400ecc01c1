/*
 * edges.h: from events to edges: when blocks begin and end. Pairs allocations
 * with frees, and follows reallocs. What an edge means, whoever looks on (the
 * sink) knows: account.h of a trace that is read, the recorder's ledger of one
 * that is being written.
 *
 *	events, by stamps ──▶ edges ──▶ birth   a block is there
 *	                        │  └──▶ end     it was freed, moved, lost
 *	                        │  └──▶ odd     unpaired, repaired
 *	                      blocks, waiting, moving
 *
 * Pairing: stamps are right within a window. An allocation on an address that
 * is live waits for the free, a free of an address that is not live waits for
 * the allocation (pairing.h). When the window is over, the event is unpaired:
 * such a free changes nothing else; such an allocation replaces the block,
 * which cannot be there any more.
 *
 * Gap: where frees of blocks that are not known are usual, they do not wait:
 * the next allocation at their address is another block, and not one that came
 * too late. Only while events may still come out of order by more than the
 * window (beyond `settled`) do they wait, and then for an allocation that is
 * older than they are.
 *
 * Reallocation: BEGIN marks the block as moving; it stays live until DONE, or
 * until its address is allocated again, which tells that it was freed.
 *
 * One thread.
 */
#ifndef GNOMON_EDGES_H
#define GNOMON_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/movings.h"
#include "cli/model/core/pairing.h"
#include "cli/trace/format/event.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/claim.h"

/* How a block ends. */
enum edge_end {
	EDGE_FREED,
	EDGE_MOVED,		/* by realloc, which has made another one */
	EDGE_LOST		/* it cannot be there any more; no free came */
};

enum edge_odd {
	EDGE_UNPAIRED,		/* an event without its counterpart */
	EDGE_UNKNOWN,		/* a free, or the end of a realloc, whose block
				 * is not known */
	EDGE_REPAIRED		/* two events that came out of order */
};

/*
 * All functions are there. `lane`: model_lane, or the like; `chain`: what `end`
 * has returned of the block that a realloc made this one of; 0: none.
 */
struct edges_sink {
	/* A block began. Its sequence, thread and cost are still to be filled
	 * in. */
	void (*birth)(void *owner, struct block *block, uint32_t lane,
		      uint32_t context, uint32_t chain);
	/* It ends; `by`: the context that frees, 0: not known. Returns the
	 * chain that goes on, of an EDGE_MOVED; 0: none. If it is not odd and
	 * not lost, the event that is being taken is what ends it; else
	 * `ender` says who does. */
	uint32_t (*end)(void *owner, struct block *block, uint64_t stamp,
			uint32_t by, enum edge_end end);
	/* A chain that a realloc held has no block any more; 0: none. */
	void (*chain_lost)(void *owner, uint32_t chain, uint64_t stamp);
	void (*odd)(void *owner, enum edge_odd what, uint64_t stamp);
	/* There is no memory for this block. */
	void (*refused)(void *owner, uint32_t lane);
};

/* A realloc whose result is not known yet, one for each lane. */
struct edges_moving {
	uint64_t address;
	uint32_t chain;		/* of the block, once `released` */
	uint32_t by;		/* the context of who calls realloc */
	/* if it is not that of edges: the block is not known any more, */
	uint32_t generation;
	uint32_t chains;	/* nor is the chain */
	bool active;
	bool found;		/* the block was known at BEGIN */
	bool released;		/* the address was allocated again already */
	bool unknown;		/* not found, and BEGIN does not wait for it */
};

struct edges {
	struct blocks blocks;
	struct pairing waiting;
	const struct edges_sink *sink;
	void *owner;
	uint64_t settled;	/* up to this stamp events come in order, as far
				 * as stamps are right */
	bool gap;		/* some frees, or allocations, are not there,
				 * by choice: one without the other is no news */
	struct edges_moving *moving;	/* by lane */
	size_t lane_count;
	struct movings by_block;	/* lanes whose block moves */
	/* While `end` is called: the lane of the event that ends the block, + 1;
	 * 0: it is the event that is being taken. */
	uint32_t ender;
	uint32_t generation, chains;	/* of blocks, of chains */
};

/* `most`: of blocks.h. The sink stays. waiting.window is to be set, in ticks.
 * False: no memory. */
bool edges_init(struct edges *edges, const struct edges_sink *sink,
		void *owner, size_t most);
void edges_free(struct edges *edges);
/* Before the first event of a lane. False: no memory. */
bool edges_reach(struct edges *edges, uint32_t lane);
/* The lane is another thread's from now on. */
void edges_lane_ends(struct edges *edges, uint32_t lane, uint64_t stamp);
/* What waited longer than the window before this stamp is given up. */
void edges_expire(struct edges *edges, uint64_t stamp);
/* No block is known any more, and nothing waits. They do not end. */
void edges_forget(struct edges *edges);
/* Numbers of chains mean nothing any more. */
void edges_forget_chains(struct edges *edges);
/* No more events come: reallocs that are under way have left their blocks as
 * they were, and what waits is given up. */
void edges_finish(struct edges *edges, uint64_t stamp);
/* For who goes on where another reading has stopped: a lane's realloc that has
 * begun, and an event that waits, the oldest first. False: that cannot be. */
bool edges_put_moving(struct edges *edges, uint32_t lane,
		      const struct edges_moving *moving);
bool edges_put_waiting(struct edges *edges,
		       const struct pairing_entry *entry);
/* The realloc of a lane; one that is not active means nothing. */
const struct edges_moving *edges_moving_of(struct edges *edges, uint32_t lane);

/* ---- for edges_event: what rarely happens ---- */

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
 * The sink of edges once more, where it is known when this is compiled: then
 * its functions are a part of the caller.
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
		.birth = event->stamp,
		.layout = event->layout & BLOCK_LAYOUT,
		.odd = odd,
	};
	sink->birth(edges->owner, block, lane, event->context, chain);
	if (__builtin_expect(edges->waiting.count > 0, 0))
		edges_settle_free(edges, lane, event);
}

static inline __attribute__((always_inline)) void
edges_deallocate(struct edges *edges, const struct edges_sink *sink,
		 uint32_t lane, const struct trace_event *event)
{
	struct block *block = blocks_find(&edges->blocks, event->address);

	if (__builtin_expect(block == NULL || block->moving, 0)) {
		edges_free_unknown(edges, lane, event, block);
		return;
	}
	CLAIM_FULL(block->address == event->address);
	sink->end(edges->owner, block, event->stamp, event->context,
		  EDGE_FREED);
	blocks_remove(&edges->blocks, block);
	if (__builtin_expect(edges->waiting.count > 0, 0))
		edges_settle_allocation(edges, event->address);
}

/* Up to this stamp: what waits for others is given up in time. */
static inline void edges_advance(struct edges *edges, uint64_t stamp)
{
	if (__builtin_expect(stamp > edges->waiting.expires, 0))
		edges_expire(edges, stamp < edges->settled ? stamp :
							     edges->settled);
}

/* I1 of edges.c, and what it is made of. With GNOMON_CLAIMS. */
bool edges_is_valid(const struct edges *edges);

/* An ALLOC, of a block that goes on with this chain. */
void edges_resume(struct edges *edges, uint32_t lane,
		  const struct trace_event *event, uint32_t chain);
/* edges_event, for who seldom has one: no part of the caller. */
void edges_take(struct edges *edges, uint32_t lane,
		const struct trace_event *event);

/* An event that is not EXTRA. `sink` is that of edges. */
static inline __attribute__((always_inline)) void
edges_event(struct edges *edges, const struct edges_sink *sink, uint32_t lane,
	    const struct trace_event *event)
{
	CLAIM_FULL(lane < edges->lane_count);
	if (__builtin_expect(event->address == 0, 0))
		/* no recorder writes that */
		sink->odd(edges->owner, EDGE_UNPAIRED, event->stamp);
	else if (event->kind == GT_ALLOC)
		edges_allocate(edges, sink, lane, event, 0, false);
	else if (event->kind == GT_FREE)
		edges_deallocate(edges, sink, lane, event);
	else
		edges_realloc(edges, lane, event);
}

#endif
