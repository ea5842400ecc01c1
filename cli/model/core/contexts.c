/*
 * contexts.c: see contexts.h.
 *
 *	id ─▶ pages ─▶ node ─▶ parent node ─▶ … ─▶ root
 *	         └───▶ cost
 *
 * Ids come from a file, so any number may appear: they are looked up in pages
 * that exist only where an id was used. Nodes are found by an open-addressing
 * hash table of node numbers over (parent, address, image). Tables and pairsets
 * of cli/base cannot be used: a key of 128 bits does not fit in a slot, and the
 * nodes have it already.
 *
 *  I1  parent < node for every real node: a parent has to be defined before its
 *      children, so there are no cycles whatever the file says.
 *  I2  There are at most PAGES_FREE pages of ids, 32 KiB each, and one more per
 *      PAGE_DEFINED_MIN ids that were defined: recorders number contexts one by
 *      one, and a short file must not take all memory.
 *  I3  With `known`, nodes and late nodes belong to that tree, and are only
 *      read; pages have costs, and no nodes.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/contexts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/search.h"
#include "unwind/base/assertion.h"

#define INDEX_FREE UINT64_MAX	/* no node has this number */
#define INDEX_SLOTS 1024	/* initially */
#define PAGES_FREE 4096
#define PAGE_DEFINED_MIN 4

static void add_node(struct contexts *contexts, uint32_t parent,
		     uint64_t address, uint32_t image)
{
	assert(parent < contexts->node_count || parent < CONTEXT_ROOTS); /* I1 */
	assert(contexts->known == NULL);	/* I3 */
	GROW(contexts->node_cost, contexts->node_count,
	     contexts->cost_of_capacity);
	GROW(contexts->nodes, contexts->node_count, contexts->node_capacity);
	contexts->node_cost[contexts->node_count] = CONTEXT_NO_COST;
	contexts->nodes[contexts->node_count++] =
		(struct context_node){ address, parent, image };
}

void contexts_init(struct contexts *contexts)
{
	memset(contexts, 0, sizeof(*contexts));
	for (unsigned i = 0; i < CONTEXT_ROOTS; i++)
		add_node(contexts, i, 0, IMAGE_NONE);
}

void contexts_init_known(struct contexts *contexts,
			 const struct contexts *known)
{
	size_t size = known->node_count * sizeof(*contexts->node_cost);

	DEBUG_ASSERT(known->known == NULL);	/* I3 */
	*contexts = (struct contexts){
		.known = known,
		.nodes = known->nodes,
		.node_count = known->node_count,
		.late = known->late,
		.late_count = known->late_count,
		.defined = known->defined,
		.node_cost = grow_alloc(size),
	};
	memset(contexts->node_cost, 0xff, size);
}

void contexts_settle(struct contexts *contexts)
{
	free(contexts->index);
	contexts->index = NULL;
}

/* ---- nodes by (parent, address, image) ---- */

static uint64_t hash_of(uint32_t parent, uint64_t address, uint32_t image)
{
	return hash_number(address ^ (uint64_t)parent << 40 ^ parent ^
			 (uint64_t)image << 52);
}

/* Compares a node only if the stored half of its hash matches. */
static uint64_t *find_slot(const struct contexts *contexts, uint64_t hash,
			   uint32_t parent, uint64_t address, uint32_t image)
{
	for (uint64_t i = hash;; i++) {
		uint64_t *slot = &contexts->index[i & contexts->index_mask];
		const struct context_node *node;

		if (*slot == INDEX_FREE)
			return slot;
		if (*slot >> 32 != hash >> 32)
			continue;
		DEBUG_ASSERT((uint32_t)*slot < contexts->node_count);
		node = &contexts->nodes[(uint32_t)*slot];
		if (node->parent == parent && node->address == address &&
		    node->image == image)
			return slot;
	}
}

static bool is_full(size_t nodes, uint64_t mask)
{
	return nodes > (mask >> 3) * 5;
}

static void enlarge_index(struct contexts *contexts)
{
	uint64_t count = INDEX_SLOTS;
	size_t size;

	DEBUG_ASSERT(contexts->known == NULL);	/* I3 */
	while (is_full(contexts->node_count, count - 1))
		count *= 2;
	size = count * sizeof(*contexts->index);
	free(contexts->index);
	contexts->index = grow_lines(NULL, 0, size);
	contexts->index_mask = count - 1;
	memset(contexts->index, 0xff, size);
	for (size_t i = CONTEXT_ROOTS; i < contexts->node_count; i++) {
		const struct context_node *node = &contexts->nodes[i];
		uint64_t at = hash_of(node->parent, node->address,
				      node->image);
		uint64_t entry = at >> 32 << 32 | i;

		/* They differ, or are late ones, which are never searched for:
		 * no comparison is needed. */
		while (contexts->index[at & contexts->index_mask] !=
		       INDEX_FREE)
			at++;
		contexts->index[at & contexts->index_mask] = entry;
	}
	DEBUG_ASSERT(contexts_is_valid(contexts));
}

static uint32_t node_for(struct contexts *contexts, uint32_t parent,
			 uint64_t address, uint32_t image)
{
	uint64_t hash = hash_of(parent, address, image), *slot;

	if (contexts->index == NULL ||
	    is_full(contexts->node_count, contexts->index_mask))
		enlarge_index(contexts);
	slot = find_slot(contexts, hash, parent, address, image);
	if (*slot == INDEX_FREE) {
		*slot = hash >> 32 << 32 | contexts->node_count;
		add_node(contexts, parent, address, image);
	}
	DEBUG_ASSERT((uint32_t)*slot < contexts->node_count);
	return (uint32_t)*slot;
}

/* A node in no image: see struct context_late. */
static uint32_t late_node(struct contexts *contexts, uint32_t parent,
			  const struct trace_node *record)
{
	uint32_t node = (uint32_t)contexts->node_count;

	GROW(contexts->late, contexts->late_count, contexts->late_capacity);
	contexts->late[contexts->late_count++] =
		(struct context_late){ node, record->id };
	DEBUG_ASSERT(contexts->late_count == 1 ||
		     contexts->late[contexts->late_count - 2].node < node);
	add_node(contexts, parent, record->address, IMAGE_NONE);
	return node;
}

/* ---- ids ---- */

/* The entry of an id that was used; NULL if there is none. */
static struct context_ref *known_ref(const struct contexts *contexts,
				     uint32_t id)
{
	size_t number = id >> CONTEXT_PAGE_BITS;

	if (number >= contexts->page_count || contexts->pages[number] == NULL)
		return NULL;
	return &contexts->pages[number][id &
		((1u << CONTEXT_PAGE_BITS) - 1)];
}

/* The same, but makes an entry. NULL: I2 forbids it. */
static struct context_ref *ref_of(struct contexts *contexts, uint32_t id)
{
	struct context_ref *ref = known_ref(contexts, id), **page;
	size_t number = id >> CONTEXT_PAGE_BITS;

	if (ref != NULL)
		return ref;
	if (contexts->page_used >= PAGES_FREE +
	    contexts->defined / PAGE_DEFINED_MIN)
		return NULL;
	GROW_TO(contexts->pages, contexts->page_count, number);
	DEBUG_ASSERT(number < contexts->page_count);
	page = &contexts->pages[number];
	if (*page == NULL) {
		size_t count = 1u << CONTEXT_PAGE_BITS;

		contexts->page_used++;
		DEBUG_ASSERT(contexts->page_used <=
			     PAGES_FREE + contexts->defined /
						  PAGE_DEFINED_MIN); /* I2 */
		*page = grow_zeroed(count, sizeof(**page));
		for (size_t i = 0; i < count; i++)
			(*page)[i].cost = CONTEXT_NO_COST;
	}
	return &(*page)[id & ((1u << CONTEXT_PAGE_BITS) - 1)];
}

/* The entry that has the node of the id. */
static const struct context_ref *defined_ref(const struct contexts *contexts,
					     uint32_t id)
{
	return known_ref(contexts->known ? contexts->known : contexts, id);
}

uint32_t contexts_node(struct contexts *contexts, uint32_t id)
{
	const struct context_ref *ref;

	if (id < GT_STOP_COUNT)
		return id;
	ref = defined_ref(contexts, id);
	DEBUG_ASSERT(ref == NULL || ref->node < contexts->node_count);
	if (ref != NULL && ref->node != 0)
		return ref->node;
	contexts->undefined++;
	return CONTEXT_UNDEFINED;
}

/* Whether a second definition equals the first. */
static bool is_repeated(struct contexts *contexts,
			const struct trace_node *record, uint32_t node)
{
	const struct context_node *known = &contexts->nodes[node];

	return known->address == record->address &&
		known->parent == contexts_node(contexts, record->parent);
}

enum contexts_defined contexts_define(struct contexts *contexts,
				      struct images *images,
				      const struct trace_node *record)
{
	struct context_ref *ref = NULL;
	uint32_t parent, image;

	if (contexts->known != NULL)
		return CONTEXTS_DEFINED;	/* `known` has its definition */
	if (record->id >= GT_STOP_COUNT &&
	    contexts->node_count < UINT32_MAX - 1)
		ref = ref_of(contexts, record->id);
	if (ref == NULL)
		return CONTEXTS_REFUSED;
	if (ref->node != 0)
		return is_repeated(contexts, record, ref->node) ?
			CONTEXTS_DEFINED : CONTEXTS_OTHER;
	parent = contexts_node(contexts, record->parent);
	image = images_find(images, record->id, record->address);
	ref->node = image == IMAGE_NONE ?
		late_node(contexts, parent, record) :
		node_for(contexts, parent, record->address, image);
	DEBUG_ASSERT(ref->node < contexts->node_count);
	DEBUG_ASSERT(parent < ref->node);	/* I1 */
	contexts->defined++;
	return parent == CONTEXT_UNDEFINED ? CONTEXTS_ORPHAN :
		CONTEXTS_DEFINED;
}

static bool is_not_below(const void *list, size_t i, uint64_t node)
{
	return ((const struct context_late *)list)[i].node >= node;
}

uint32_t contexts_id(const struct contexts *contexts, uint32_t node)
{
	size_t i = search_first(contexts->late, contexts->late_count,
				is_not_below, node);

	return i < contexts->late_count && contexts->late[i].node == node ?
		contexts->late[i].id : 0;
}

static void enlarge_costs(struct contexts *contexts)
{
	size_t capacity = contexts->cost_capacity * 2 + 64;

	contexts->costs = grow_lines(contexts->costs, contexts->cost_count *
				     sizeof(*contexts->costs),
				     capacity * sizeof(*contexts->costs));
	contexts->cost_capacity = capacity;
}

static uint32_t add_cost(struct contexts *contexts, uint32_t node,
			 uint32_t key)
{
	struct context_cost *cost;

	if (contexts->cost_count == contexts->cost_capacity)
		enlarge_costs(contexts);
	DEBUG_ASSERT(node < contexts->node_count);
	assert(contexts->cost_count < CONTEXT_NO_COST);
	cost = &contexts->costs[contexts->cost_count];
	memset(cost, 0, sizeof(*cost));
	cost->node = node;
	cost->key = key;
	return (uint32_t)contexts->cost_count++;
}

static uint32_t keyed_cost(struct contexts *contexts, uint64_t place,
			   uint32_t node, uint32_t key)
{
	uint32_t cost = table_get(&contexts->by_key, place);

	if (cost == TABLE_NONE) {
		cost = add_cost(contexts, node, key);
		table_set(&contexts->by_key, place, cost);
	}
	DEBUG_ASSERT(cost < contexts->cost_count);
	return cost;
}

static uint64_t place_of(uint32_t node, uint32_t key)
{
	return (uint64_t)node << 32 | key;
}

/* Stored under a node number that is never used. */
static uint32_t group_cost(struct contexts *contexts, uint32_t node,
			   uint32_t key)
{
	uint32_t group = contexts->group(contexts->group_owner, node, key);

	return keyed_cost(contexts, place_of(UINT32_MAX, group), node, group);
}

uint32_t contexts_keyed_cost(struct contexts *contexts, uint32_t id,
			     uint32_t key)
{
	uint32_t node = contexts_node(contexts, id);
	uint64_t place = place_of(node, key);
	uint32_t cost;

	if (contexts->group == NULL)
		return keyed_cost(contexts, place, node, key);
	cost = table_get(&contexts->by_key, place);
	if (cost == TABLE_NONE) {
		cost = group_cost(contexts, node, key);
		table_set(&contexts->by_key, place, cost);
	}
	return cost;
}

uint32_t contexts_node_cost(struct contexts *contexts, uint32_t node,
			    uint32_t key, bool keyed)
{
	uint32_t *cost = &contexts->node_cost[node];

	DEBUG_ASSERT(contexts->group == NULL && node < contexts->node_count);
	if (keyed)
		return keyed_cost(contexts, place_of(node, key), node, key);
	if (*cost == CONTEXT_NO_COST)
		*cost = add_cost(contexts, node, 0);
	return *cost;
}

uint32_t contexts_find_cost(const struct contexts *contexts, uint32_t node,
			    uint32_t key)
{
	uint32_t cost = contexts->node_cost[node];

	DEBUG_ASSERT(cost == CONTEXT_NO_COST || cost < contexts->cost_count);
	if (cost != CONTEXT_NO_COST)
		return cost;
	cost = table_get(&contexts->by_key, place_of(node, key));
	return cost != TABLE_NONE ? cost : CONTEXT_NO_COST;
}

uint32_t contexts_new_cost(struct contexts *contexts, uint32_t id)
{
	uint32_t node = contexts_node(contexts, id);
	/* Ids of roots and undefined ids may have no entry. */
	struct context_ref *ref = id < GT_STOP_COUNT ||
		defined_ref(contexts, id) != NULL ?
		ref_of(contexts, id) : NULL;
	uint32_t *cost = &contexts->node_cost[node];

	if (*cost == CONTEXT_NO_COST)
		*cost = contexts->group != NULL ?
			group_cost(contexts, node, 0) :
			add_cost(contexts, node, 0);
	if (ref != NULL && node != CONTEXT_UNDEFINED) {
		GROW(contexts->used, contexts->used_count,
		     contexts->used_capacity);
		contexts->used[contexts->used_count++] = id;
		ref->cost = *cost;
	}
	DEBUG_ASSERT(*cost < contexts->cost_count);
	return *cost;
}

void contexts_forget_costs(struct contexts *contexts)
{
	for (size_t i = 0; i < contexts->used_count; i++)
		known_ref(contexts, contexts->used[i])->cost = CONTEXT_NO_COST;
	for (size_t i = 0; i < contexts->cost_count; i++)
		contexts->node_cost[contexts->costs[i].node] = CONTEXT_NO_COST;
	contexts->used_count = contexts->cost_count = 0;
	table_free(&contexts->by_key);
}

void contexts_free(struct contexts *contexts)
{
	/* A hostile trace may skip any number of pages. */
	for (size_t i = 0; contexts->page_used > 0; i++)
		if (contexts->pages[i] != NULL) {
			free(contexts->pages[i]);
			contexts->page_used--;
		}
	free(contexts->pages);
	if (contexts->known == NULL) {
		free(contexts->nodes);
		free(contexts->late);
	}
	free(contexts->node_cost);
	free(contexts->costs);
	free(contexts->index);
	free(contexts->used);
	table_free(&contexts->by_key);
	memset(contexts, 0, sizeof(*contexts));
}

#ifdef GNOMON_DEBUG_ASSERTS
bool contexts_is_valid(const struct contexts *contexts)
{
	size_t indexed = 0, slots = contexts->index ?
		contexts->index_mask + 1 : 0;

	for (size_t i = 0; i < contexts->node_count; i++)
		if (i < CONTEXT_ROOTS ? contexts->nodes[i].parent != i :
		    contexts->nodes[i].parent >= i)
			return false;	/* I1 */
	for (size_t i = 0; i < slots; i++) {
		uint64_t slot = contexts->index[i];

		indexed += slot != INDEX_FREE;
		if (slot != INDEX_FREE &&
		    (uint32_t)slot >= contexts->node_count)
			return false;
	}
	return contexts->node_count >= CONTEXT_ROOTS &&
	       (slots & (slots - 1)) == 0 &&
	       indexed <= contexts->node_count &&
	       contexts->page_used <= contexts->page_count &&
	       contexts->page_used <= PAGES_FREE +
		       contexts->defined / PAGE_DEFINED_MIN + 1;	/* I2 */
}
#endif
