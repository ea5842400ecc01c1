/*
 * contexts.h: the calling-context tree of a trace, with the figures of every
 * context that allocated.
 *
 * A trace may define the same context under several ids; here equal ones
 * (same parent, address and image) are one *node*. But an address that is in
 * no image may have meant other code each time: there each id is a node. Nodes are numbered from 0;
 * the first GT_STOP_COUNT are the roots, one for each way in which a walk can
 * end, and the next one stands for contexts that the trace never defined.
 * Nodes with figures have a *cost*, numbered apart from them.
 */
#ifndef GNOMON_CONTEXTS_H
#define GNOMON_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/images.h"
#include "unwind/claim.h"

#define CONTEXT_UNDEFINED GT_STOP_COUNT
#define CONTEXT_ROOTS (GT_STOP_COUNT + 1)	/* first real node */
#define CONTEXT_PAGE_BITS 12
#define CONTEXT_NO_COST UINT32_MAX

struct context_node {
	uint64_t address;
	uint32_t parent;	/* node */
	uint32_t image;
};

/* The first half of it changes with every event. */
struct context_cost {
	uint64_t epoch;		/* of peak_blocks and peak_bytes */
	uint64_t live_bytes;
	uint64_t live_blocks;
	uint64_t allocations;
	uint64_t total_bytes;
	uint64_t frees;
	double lifetime;	/* ticks, sum over the freed blocks */
	uint64_t own_peak_bytes;	/* when its live bytes were most */
	uint64_t own_peak_blocks;
	uint64_t own_peak_stamp;
	uint64_t first;		/* stamps of its first and last allocation */
	uint64_t last;
	uint64_t temporary;
	uint64_t peak_blocks;	/* at the global peak; see model_figures */
	uint64_t peak_bytes;
	uint32_t node;
	uint32_t key;		/* of its blocks: block_keys.h; or the group */
};

struct context_ref {
	uint32_t node;		/* 0: not defined */
	uint32_t cost;		/* CONTEXT_NO_COST: not looked up yet */
};

/* A node of code made at run time: what lay there then is known by its id. */
struct context_late {
	uint32_t node;
	uint32_t id;		/* in the trace */
};

struct contexts {
	struct context_node *nodes;
	uint32_t *node_cost;	/* parallel to nodes */
	size_t node_count;
	size_t node_capacity;
	size_t cost_of_capacity;
	struct context_cost *costs;
	size_t cost_count;
	size_t cost_capacity;
	struct context_ref **pages;	/* by id; NULL where none was used */
	size_t page_count;
	size_t page_used;		/* that are not NULL */
	size_t defined;			/* ids */
	/* Of nodes: the upper half of a hash | the node. */
	uint64_t *index;
	uint64_t index_mask;
	struct context_late *late;	/* by node */
	size_t late_count;
	size_t late_capacity;
	uint64_t undefined;		/* ids used but never defined */
	uint32_t *used;		/* ids whose ref has a cost */
	size_t used_count, used_capacity;
	struct table by_key;	/* (node, key), or group -> cost */
	/* A tree that has all of the trace's nodes already: only costs are
	 * one's own then. */
	const struct contexts *known;
	/* Nodes and keys for which it returns the same have one cost, with
	 * that as its key; NULL: each has its own. */
	uint32_t (*group)(void *owner, uint32_t node, uint32_t key);
	void *group_owner;
};

void contexts_init(struct contexts *contexts);
/*
 * For a second pass: nodes are those of `known`, which must stay as it is as
 * long as this one is used. An id that it has not means an undefined context,
 * whatever the trace says of it.
 */
void contexts_init_known(struct contexts *contexts,
			 const struct contexts *known);
/* No more nodes will come: what only contexts_define needs is given back. It
 * may be called all the same. */
void contexts_settle(struct contexts *contexts);
/* What is wrong with a definition. */
enum contexts_defined {
	CONTEXTS_DEFINED,
	CONTEXTS_ORPHAN,	/* its parent is not defined */
	CONTEXTS_OTHER,		/* it was defined, as another one */
	CONTEXTS_REFUSED	/* no id that a recorder gives */
};
/* Define `id`; a second definition of it is ignored. */
enum contexts_defined contexts_define(struct contexts *contexts,
				      struct images *images,
				      const struct trace_node *record);
/* The node of an id; the one for undefined contexts if it has none. */
uint32_t contexts_node(struct contexts *contexts, uint32_t id);
/* The cost of an id that has none yet; makes one. */
uint32_t contexts_new_cost(struct contexts *contexts, uint32_t id);
/* The id of a node whose address is in no image; 0: it is in one. */
uint32_t contexts_id(const struct contexts *contexts, uint32_t node);
/* The cost of an id's node for a number of block keys; made if there is none. */
uint32_t contexts_keyed_cost(struct contexts *contexts, uint32_t id,
			     uint32_t key);
/* The same of a node, without ids; `keyed`: there are keys. */
uint32_t contexts_node_cost(struct contexts *contexts, uint32_t node,
			    uint32_t key, bool keyed);
/* The cost of a node for it (0: there are no keys), or CONTEXT_NO_COST. */
uint32_t contexts_find_cost(const struct contexts *contexts, uint32_t node,
			    uint32_t key);
/* Nothing of them counts any more: no node has a cost. Takes as long as it took
 * to make those that there are. */
void contexts_forget_costs(struct contexts *contexts);
void contexts_free(struct contexts *contexts);

/* The cost that belongs to a context id of an event. */
static inline uint32_t contexts_cost(struct contexts *contexts, uint32_t id)
{
	struct context_ref *page = NULL;
	uint32_t cost = CONTEXT_NO_COST;

	if (id >> CONTEXT_PAGE_BITS < contexts->page_count)
		page = contexts->pages[id >> CONTEXT_PAGE_BITS];
	if (page != NULL)
		cost = page[id & ((1u << CONTEXT_PAGE_BITS) - 1)].cost;
	CLAIM_FULL(cost == CONTEXT_NO_COST || cost < contexts->cost_count);
	return cost != CONTEXT_NO_COST ? cost :
		contexts_new_cost(contexts, id);
}

static inline const struct context_ref *
contexts_ref(const struct contexts *contexts, uint32_t id)
{
	const struct context_ref *page = NULL;

	if (id >> CONTEXT_PAGE_BITS < contexts->page_count)
		page = contexts->pages[id >> CONTEXT_PAGE_BITS];
	return page == NULL ? NULL :
		&page[id & ((1u << CONTEXT_PAGE_BITS) - 1)];
}

/* To be called some events ahead, the second a few events after the first.
 * A cost that does not exist yet: of no use, and of no harm. */
static inline void contexts_prefetch(const struct contexts *contexts,
				     uint32_t id)
{
	__builtin_prefetch(contexts_ref(contexts, id));
}

static inline void contexts_prefetch_cost(const struct contexts *contexts,
					  uint32_t number)
{
	/* a number: it may lie outside of the array */
	uintptr_t cost = (uintptr_t)contexts->costs +
		(size_t)number * sizeof(struct context_cost);

	__builtin_prefetch((const void *)cost, 1);
	__builtin_prefetch((const void *)
			   (cost + sizeof(struct context_cost) / 2), 1);
}

/* The tree has no circles, and its index leads into it. With GNOMON_CLAIMS. */
bool contexts_is_valid(const struct contexts *contexts);

#endif
