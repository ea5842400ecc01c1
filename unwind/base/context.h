/*
 * context.h: the calling-context tree. A node is (parent, return address); its
 * id names the whole stack from this frame outward.
 */
#ifndef GNOMON_UNWIND_CONTEXT_H
#define GNOMON_UNWIND_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "arch.h"
#include "unwind/base/assertion.h"
#include "unwind/base/capture_config.h"

/* Returns the step from a frame with this return address, as a node's flags
 * hold it (below). Any thread, also signal handlers. */
typedef uint32_t context_step(uintptr_t address);

/* Forgets all earlier state. 0 or -ENOMEM. */
int context_init(const struct capture_config *config, context_step *step_of);

/*
 * A hash of a whole stack, computed from the addresses alone (not from ids).
 * Lookups of several new frames can therefore be prefetched before the first
 * one is answered, and one lookup finds a known stack. context_hash_root: the
 * hash of a stack without frames whose walk ended for this reason. The hash is
 * a polynomial of the addresses (like Rabin and Karp's); each address is
 * multiplied on its own, so that one multiplication and one addition lead from
 * frame to frame.
 */
#define CONTEXT_HASH_STEP UINT64_C(0xd1342543de82ef95)
#define CONTEXT_HASH_ADDRESS UINT64_C(0x9e3779b97f4a7c15)
#define CONTEXT_HASH_STOP UINT64_C(0xd6e8feb86659fd93)

static inline uint64_t context_hash_root(uint32_t stop)
{
	return stop * CONTEXT_HASH_STOP * CONTEXT_HASH_ADDRESS;
}

static inline uint64_t context_hash(uint64_t outer, uintptr_t address)
{
	return outer * CONTEXT_HASH_STEP + address * CONTEXT_HASH_ADDRESS;
}

/*
 * The same hash computed from the innermost frame outward, while the outermost
 * frame is not known yet; no step waits for the multiplications of another.
 */
struct context_sum {
	uint64_t sum, power;
};

static inline struct context_sum context_sum_start(void)
{
	return (struct context_sum){ 0, CONTEXT_HASH_ADDRESS };
}

static inline void context_sum_add(struct context_sum *of, uintptr_t address)
{
	of->sum += of->power * address;
	of->power *= CONTEXT_HASH_STEP;
}

/* context_hash of all addresses added, on top of context_hash_root(stop). */
static inline uint64_t context_sum_end(const struct context_sum *of,
				       uint32_t stop)
{
	return of->sum + of->power * (stop * CONTEXT_HASH_STOP);
}

/* For each piece: the address that node 0 would have if all nodes lay in one
 * array with this piece. */
#define CONTEXT_PIECES 32
extern __attribute__((visibility("hidden")))
_Atomic uintptr_t context_pieces[CONTEXT_PIECES];
extern __attribute__((visibility("hidden")))
uint32_t context_first_piece;	/* nodes in piece 0; 0: all */

static inline unsigned context_piece_of(uint32_t id)
{
	return !context_first_piece || id < context_first_piece ?
		       0 : 32 - __builtin_clz(id / context_first_piece);
}

/* id was read from an entry, or is the parent of such a node. */
static inline const struct gl_node *context_node_at(uint32_t id)
{
	/* pairs with the release of piece_map; I5 of context.c */
	uintptr_t nodes = atomic_load_explicit(
		&context_pieces[context_piece_of(id)], memory_order_acquire);

	DEBUG_ASSERT(nodes);
	return (const struct gl_node *)(nodes + id * sizeof(struct gl_node));
}

/*
 * A node's flags hold, besides GL_NODE_DEAD, the step from a frame with this
 * return address to the next frame, if that step is simple and always the same.
 *
 *	15     8 7    5   4    3      1   0
 *	+-------+------+------+--------+------+
 *	| size  |  ra  | rare | saved  | dead |
 *	+-------+------+------+--------+------+
 *
 * size: the frame's, in ARCH_RULE_UNIT, from sp to its end; with STEP_RARE, one
 * of the values below. ra: where the return address lies, on architectures
 * where functions choose its slot (arch_step_slot). saved: where the caller's
 * frame pointer lies: the number of words below the frame's end, minus one;
 * with a link register, the number of words below the return address; 0: the
 * register still holds the caller's value.
 */
#define STEP_SAVED_SHIFT 1
#define STEP_SAVED_MAX 7u
#define STEP_RARE 0x10u
#define STEP_RA_SHIFT 5
#define STEP_RA_MAX 7u
#define STEP_SIZE_SHIFT 8
#define STEP_SIZE_MAX 0xffu
enum {
	STEP_ASK,	/* look the rule up */
	STEP_FP,	/* the frame ends two words above fp, where the caller's
			 * fp is saved */
	STEP_END	/* the outermost frame */
};

static inline uint32_t step_plain_of(uint32_t size, uint32_t ra, uint32_t saved)
{
	return size << STEP_SIZE_SHIFT | ra << STEP_RA_SHIFT |
	       saved << STEP_SAVED_SHIFT;
}

static inline uint32_t step_rare_of(uint32_t kind)
{
	return kind << STEP_SIZE_SHIFT | STEP_RARE;
}

/* The index: see context.c. */
#define CONTEXT_PROBE_MAX 64	/* longer runs count as "full" */
#define CONTEXT_BUCKET 8u	/* a cache line */

struct context_bucket {
	_Alignas(64) _Atomic uint64_t entry[CONTEXT_BUCKET];
};

struct context_table {
	struct context_table *older;
	unsigned shift;		/* from a hash to a bucket number */
	uint32_t mask;		/* buckets, minus one */
	_Atomic uint32_t used;
	uint32_t limit;
	uint32_t first;		/* children of this and later nodes are in no
				 * older table */
	struct context_bucket *bucket;
};

extern __attribute__((visibility("hidden")))
struct context_table *_Atomic context_tables;

static inline struct context_table *context_newest(void)
{
	/* Pairs with the exchange in table_grow. */
	return atomic_load_explicit(&context_tables, memory_order_acquire);
}

/* Prefetches the bucket in which a stack of this hash would be found. */
static inline void context_prefetch(const struct context_table *t,
				    uint64_t hash)
{
	DEBUG_ASSERT(hash >> t->shift <= t->mask);
	__builtin_prefetch(&t->bucket[hash >> t->shift], 0, 3);
}

/* The part of the stack's hash that an entry stores. */
static inline uint32_t context_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* The distance to the next bucket in which a stack with this tag may lie. */
static inline uint32_t context_stride(uint32_t tag)
{
	return 2 * (tag & 63) + 1;
}

/* The node in this table whose stack has this hash, with this address and
 * parent (any: the parent is not compared); 0: none. */
static inline __attribute__((always_inline)) uint32_t
context_search(const struct context_table *t, uint64_t hash, uint32_t parent,
	       uintptr_t address, bool any)
{
	uint32_t tag = context_tag(hash), i = (uint32_t)(hash >> t->shift);
	unsigned probe;

	for (probe = 0; probe < CONTEXT_PROBE_MAX;
	     probe++, i += context_stride(tag)) {
		const struct context_bucket *b = &t->bucket[i & t->mask];
		uint32_t like = arch_tags_are(b->entry, tag);

		for (; like; like &= like - 1) {
			/* pairs with table_add: the node is there */
			uint32_t id = (uint32_t)atomic_load_explicit(
				&b->entry[__builtin_ctz(like) / 2],
				memory_order_acquire);
			const struct gl_node *node = context_node_at(id);

			if (node->address == address &&
			    (any || node->parent == parent) &&
			    !(__atomic_load_n(&node->flags, __ATOMIC_RELAXED) &
			      GL_NODE_DEAD) && id)
				return id;
		}
		if (!atomic_load_explicit(&b->entry[CONTEXT_BUCKET - 1],
					  memory_order_relaxed))
			return 0;
	}
	return 0;
}

static inline uint32_t context_find(const struct context_table *t,
				    uint64_t hash, uint32_t parent,
				    uintptr_t address)
{
	return context_search(t, hash, parent, address, false);
}

/*
 * A node that is probably the stack with this hash and innermost address; 0:
 * this table has none. Only context_trail proves it.
 */
static inline uint32_t context_guess(const struct context_table *t,
				     uint64_t hash, uintptr_t address)
{
	return context_search(t, hash, 0, address, true);
}

/*
 * Iterates from a node outward. Nodes of a stack that was new when first
 * captured are adjacent, so the address of the next one is mostly known before
 * this one is read.
 */
struct context_trail {
	const struct gl_node *node;
	uint32_t id;
};

static inline struct context_trail context_trail_at(uint32_t id)
{
	return (struct context_trail){ context_node_at(id), id };
}

/* Whether the frame at the trail has this address and its code is still mapped;
 * if so, the trail moves to the caller (which may be an enum gt_stop). */
static inline bool context_trail_step(struct context_trail *trail,
				      uintptr_t address)
{
	const struct gl_node *node = trail->node;
	uint32_t id = trail->id;
	uint32_t parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);

	/* Other processes can write the nodes, and so can a wild pointer of the
	 * program: the parent may be anything. Nodes with lower ids are mapped
	 * (I5). */
	if (node->address != address || parent >= id ||
	    __atomic_load_n(&node->flags, __ATOMIC_RELAXED) & GL_NODE_DEAD)
		return false;
	trail->id = parent;
	/* the first node of a piece has a power of two as its id */
	trail->node = __builtin_expect(parent == id - 1 && id & parent, 1) ?
			      node - 1 : context_node_at(parent);
	return true;
}

/* Searches older tables, then makes a node. */
uint32_t context_child_slow(struct context_table *t, uint64_t hash,
			    uint32_t parent, uintptr_t address, bool steps);

/*
 * The node of `address` called from `parent`; made if there is none. `hash`: of
 * the whole stack, this frame included. `steps`: the walking thread knows all
 * images (I1 of capture.c), so that the address's rule belongs to its code;
 * otherwise the node is made without a step (STEP_ASK). GT_STOP_NO_MEMORY when
 * no node can be made. Lock-free; any thread, also signal handlers.
 */
static inline uint32_t context_child(uint32_t parent, uintptr_t address,
				     uint64_t hash, bool steps)
{
	struct context_table *t = context_newest();
	uint32_t id = context_find(t, hash, parent, address);

	DEBUG_ASSERT(id == 0 || parent < id);
	if (__builtin_expect(id != 0, 1))
		return id;
	return context_child_slow(t, hash, parent, address, steps);
}

/* The context of n addresses, innermost first, with this hash. */
uint32_t context_of_walk(const uintptr_t *addresses, uint32_t n, uint32_t stop,
			 uint64_t hash);

/* Like context_of_walk, if the hash is not known; any kind of walk (steps). */
uint32_t context_of(const uintptr_t *addresses, uint32_t n, uint32_t stop);

/*
 * Lookups no longer find nodes with an address in [start, end): another image
 * may be mapped there. `first`: no node with a lower id has such an address.
 * Called under the image lock.
 */
void context_forget(uintptr_t start, uintptr_t end, uint32_t first);

/* Return address and parent of a node; id >= GT_STOP_COUNT. */
const struct gl_node *context_node(uint32_t id);

/* Ids allocated so far: one past the highest. */
uint32_t context_count(void);

/* Checks the chain of tables and the node count; checks all entries of the
 * newest table. */
bool context_is_valid(void);
bool context_entries_are_valid(void);

#endif
