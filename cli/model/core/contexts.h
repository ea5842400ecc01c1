/*
 * contexts.h: the calling-context tree of a trace, with the measures of every
 * context that allocated.
 *
 * A trace may define the same context under several ids. Equal ones (same
 * parent, address and image) are one *node* here. But an address in no image
 * may have been different code each time: there each id is a node of its own.
 * Nodes are numbered from 0. The first GT_STOP_COUNT are the roots, one for
 * each reason for which a walk can end; the next stands for contexts that the
 * trace never defined. Nodes with measures have a *cost*; costs have numbers of
 * their own.
 */
#ifndef GNOMON_CONTEXTS_H
#define GNOMON_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/images.h"
#include "unwind/base/assertion.h"

#define CONTEXT_UNDEFINED GT_STOP_COUNT
#define CONTEXT_ROOTS (GT_STOP_COUNT + 1)	/* first real node */
#define CONTEXT_PAGE_BITS 12
#define CONTEXT_NO_COST UINT32_MAX

struct context_node {
	uint64_t address;
	uint32_t parent;	/* node */
	uint32_t image;
};

/* Every event changes the first half. */
struct context_cost {
	uint64_t epoch;		/* of peak_blocks and peak_bytes */
	uint64_t live_bytes;
	uint64_t live_blocks;
	uint64_t allocations;
	uint64_t total_bytes;
	uint64_t frees;
	double lifetime;	/* ticks, sum over the freed blocks */
	uint64_t own_peak_bytes;	/* the largest live bytes */
	uint64_t own_peak_blocks;
	uint64_t own_peak_stamp;
	uint64_t first;		/* stamps of its first and last allocation */
	uint64_t last;
	uint64_t temporary;
	uint64_t peak_blocks;	/* at the global peak; see model_figures */
	uint64_t peak_bytes;
	uint32_t node;
	uint32_t key;		/* number of its block keys (block_keys.h), or
				 * its group */
};

struct context_ref {
	uint32_t node;		/* 0: not defined */
	uint32_t cost;		/* CONTEXT_NO_COST: not looked up yet */
};

/* A node for code made at run time: the id says which code was there then. */
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
	struct context_ref **pages;	/* by id; NULL: none used */
	size_t page_count;
	size_t page_used;		/* not NULL */
	size_t defined;			/* ids that have a definition */
	/* Hash table of nodes: upper half of the hash | node. */
	uint64_t *index;
	uint64_t index_mask;
	struct context_late *late;	/* by node */
	size_t late_count;
	size_t late_capacity;
	uint64_t undefined;		/* ids used but never defined */
	uint32_t *used;		/* ids whose ref has a cost */
	size_t used_count, used_capacity;
	struct table by_key;	/* (node, key), or group -> cost */
	/* A tree with all nodes of the trace: then this struct has only costs
	 * of its own. */
	const struct contexts *known;
	/* Pairs of node and key for which this returns the same group have one
	 * cost, with the group as its key; NULL: each pair has its own. */
	uint32_t (*group)(void *owner, uint32_t node, uint32_t key);
	void *group_owner;
};

void contexts_init(struct contexts *contexts);
/*
 * For a second pass: the nodes are those of `known`, which must not change
 * while this struct is used. An id that `known` does not define means an
 * undefined context, whatever the trace says about it.
 */
void contexts_init_known(struct contexts *contexts,
			 const struct contexts *known);
/* No more nodes will come: frees memory that only contexts_define needs.
 * contexts_define may still be called. */
void contexts_settle(struct contexts *contexts);
/* The result of a definition. */
enum contexts_defined {
	CONTEXTS_DEFINED,
	CONTEXTS_ORPHAN,	/* the parent is not defined */
	CONTEXTS_OTHER,		/* the id already has another definition */
	CONTEXTS_REFUSED	/* an id that no recorder uses */
};
/* Define `id`; repeated definitions are ignored. */
enum contexts_defined contexts_define(struct contexts *contexts,
				      struct images *images,
				      const struct trace_node *record);
/* The node of an id; the undefined node if it has no definition. */
uint32_t contexts_node(struct contexts *contexts, uint32_t id);
/* Makes a cost for an id that has none. */
uint32_t contexts_new_cost(struct contexts *contexts, uint32_t id);
/* The id of a node whose address is in no image; 0: it is in an image. */
uint32_t contexts_id(const struct contexts *contexts, uint32_t node);
/* The cost of an id's node for a number of block keys; made if missing. */
uint32_t contexts_keyed_cost(struct contexts *contexts, uint32_t id,
			     uint32_t key);
/* The same for a node instead of an id; `keyed`: there are keys. */
uint32_t contexts_node_cost(struct contexts *contexts, uint32_t node,
			    uint32_t key, bool keyed);
/* The cost of a node for the key number (0: no keys), or CONTEXT_NO_COST. */
uint32_t contexts_find_cost(const struct contexts *contexts, uint32_t node,
			    uint32_t key);
/* Removes all costs. Takes as long as making them took. */
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
	DEBUG_ASSERT(cost == CONTEXT_NO_COST || cost < contexts->cost_count);
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

/* Call these some events ahead, the second a few events after the first. For a
 * cost that does not exist yet they have no effect. */
static inline void contexts_prefetch(const struct contexts *contexts,
				     uint32_t id)
{
	__builtin_prefetch(contexts_ref(contexts, id));
}

static inline void contexts_prefetch_cost(const struct contexts *contexts,
					  uint32_t number)
{
	/* as a number: it may be outside of the array */
	uintptr_t cost = (uintptr_t)contexts->costs +
		(size_t)number * sizeof(struct context_cost);

	__builtin_prefetch((const void *)cost, 1);
	__builtin_prefetch((const void *)
			   (cost + sizeof(struct context_cost) / 2), 1);
}

/* The tree has no cycles, and its index refers to existing nodes. With
 * GNOMON_DEBUG_ASSERTS. */
bool contexts_is_valid(const struct contexts *contexts);

#endif
