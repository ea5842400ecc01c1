/*
 * context.h: the calling-context tree. A node is (parent, return address);
 * its id names the whole stack outward from it.
 */
#ifndef GNOMON_UNWIND_CONTEXT_H
#define GNOMON_UNWIND_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "arch.h"
#include "unwind/capture.h"
#include "unwind/claim.h"

/* Forgets all earlier state. 0 or -ENOMEM. */
int context_init(const struct capture_config *config);

/*
 * A hash of a whole stack, computed from the addresses alone (not from ids), so
 * that the look-ups of several new frames can be on their way before the first
 * of them is answered, and a known stack is found by one. context_hash_root: of
 * a stack without frames whose walk ended for this reason. It is a polynomial
 * of the addresses (as Rabin and Karp's), each multiplied on its own, so that
 * one multiplication and one addition lead from frame to frame.
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
 * The same from the innermost frame on, while the outermost is not known yet;
 * no step waits for another one's multiplications.
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

/* context_hash of all that was added, outward of context_hash_root(stop). */
static inline uint64_t context_sum_end(const struct context_sum *of,
				       uint32_t stop)
{
	return of->sum + of->power * (stop * CONTEXT_HASH_STOP);
}

/* Where node 0 would be, if all were in one array with the piece's. */
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

/* id was in an entry, or is a parent of such a one. */
static inline const struct gl_node *context_node_at(uint32_t id)
{
	/* pairs with the release of piece_map; I5 of context.c */
	uintptr_t nodes = atomic_load_explicit(
		&context_pieces[context_piece_of(id)], memory_order_acquire);

	CLAIM_FULL(nodes);
	return (const struct gl_node *)(nodes + id * sizeof(struct gl_node));
}

/*
 * What a node's flags hold beside GL_NODE_DEAD: how a walk gets from a frame
 * with this return address to the next one, where that is simple and always
 * the same.
 *
 *	15     8 7    5   4    3      1   0
 *	+-------+------+------+--------+------+
 *	| size  |  ra  | rare | saved  | dead |
 *	+-------+------+------+--------+------+
 *
 * size: of the frame, in ARCH_RULE_UNIT, whose end is counted from sp; with
 * STEP_RARE, one of the values below. ra: where the return address is, if
 * functions choose that (arch_step_slot). saved: where the caller's frame
 * pointer is: one less than the words that it lies below the end, or with a
 * link register the words below the return address; 0: it is still the
 * caller's.
 */
#define STEP_SAVED_SHIFT 1
#define STEP_SAVED_MAX 7u
#define STEP_RARE 0x10u
#define STEP_RA_SHIFT 5
#define STEP_RA_MAX 7u
#define STEP_SIZE_SHIFT 8
#define STEP_SIZE_MAX 0xffu
enum {
	STEP_ASK,	/* what the rules say */
	STEP_FP,	/* it ends two words from fp, where that was saved */
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
	unsigned shift;		/* of a hash, to the number of a bucket */
	uint32_t mask;		/* buckets, less one */
	_Atomic uint32_t used;
	uint32_t limit;
	uint32_t first;		/* what was called from it or a later node is
				 * in no older table */
	struct context_bucket *bucket;
};

extern __attribute__((visibility("hidden")))
struct context_table *_Atomic context_tables;

static inline struct context_table *context_newest(void)
{
	/* Pairs with the exchange in table_grow. */
	return atomic_load_explicit(&context_tables, memory_order_acquire);
}

/* Fetches the place where a stack of this hash would be found. */
static inline void context_prefetch(const struct context_table *t,
				    uint64_t hash)
{
	CLAIM_FULL(hash >> t->shift <= t->mask);
	__builtin_prefetch(&t->bucket[hash >> t->shift], 0, 3);
}

/* What an entry has of its stack's hash. */
static inline uint32_t context_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* From one bucket that such a stack may be in to the next one. */
static inline uint32_t context_stride(uint32_t tag)
{
	return 2 * (tag & 63) + 1;
}

/* A node whose stack has this hash, in this table, by its address and parent
 * (any: whatever that is); or 0. */
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
 * A node that in all likelihood is of this stack, by its hash and innermost
 * address; 0: there is none in this table, where it is unlikely that there is
 * one. The trail has to be followed to be sure.
 */
static inline uint32_t context_guess(const struct context_table *t,
				     uint64_t hash, uintptr_t address)
{
	return context_search(t, hash, 0, address, true);
}

/*
 * From a node outward. The nodes of a stack that was new when it was met lie
 * one behind the other, so that where the next one lies is mostly known before
 * it is read.
 */
struct context_trail {
	const struct gl_node *node;
	uint32_t id;
};

static inline struct context_trail context_trail_at(uint32_t id)
{
	return (struct context_trail){ context_node_at(id), id };
}

/* Whether the frame at the trail has this address, and its code is still
 * there; the trail is at its caller then (which may be an enum gt_stop). */
static inline bool context_trail_step(struct context_trail *trail,
				      uintptr_t address)
{
	const struct gl_node *node = trail->node;
	uint32_t id = trail->id;
	uint32_t parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);

	/* other processes see the nodes, and a program's wild pointer: the
	 * parent may be anything, and those below are there (I5) */
	if (node->address != address || parent >= id ||
	    __atomic_load_n(&node->flags, __ATOMIC_RELAXED) & GL_NODE_DEAD)
		return false;
	trail->id = parent;
	/* a power of two may be the first of its piece */
	trail->node = __builtin_expect(parent == id - 1 && id & parent, 1) ?
			      node - 1 : context_node_at(parent);
	return true;
}

/* Looks into older tables, then makes a node. */
uint32_t context_child_slow(struct context_table *t, uint64_t hash,
			    uint32_t parent, uintptr_t address, bool steps);

/*
 * The node of `address` called from `parent`; made if there is none. `hash` is
 * the whole stack's, this frame included. `steps`: the walk was one of a thread
 * that knows all images (I1 of capture.c), so that the rule for the address is
 * that of its code; else the node is made without (STEP_ASK). When no node can be made any more:
 * GT_STOP_NO_MEMORY. Lock-free; any thread, also signal handlers.
 */
static inline uint32_t context_child(uint32_t parent, uintptr_t address,
				     uint64_t hash, bool steps)
{
	struct context_table *t = context_newest();
	uint32_t id = context_find(t, hash, parent, address);

	CLAIM_FULL(id == 0 || parent < id);
	if (__builtin_expect(id != 0, 1))
		return id;
	return context_child_slow(t, hash, parent, address, steps);
}

/* The context of n addresses, innermost first, whose hash this is. */
uint32_t context_of_walk(const uintptr_t *addresses, uint32_t n, uint32_t stop,
			 uint64_t hash);

/* The same, the hash not being known, and the walk one of any kind (steps). */
uint32_t context_of(const uintptr_t *addresses, uint32_t n, uint32_t stop);

/*
 * No look-up finds a node with an address in [start, end) any more: another
 * image may come to lie there. `first`: no older node has such an address.
 * Called under the image lock.
 */
void context_forget(uintptr_t start, uintptr_t end, uint32_t first);

/* Return address and parent of a node; id >= GT_STOP_COUNT. */
const struct gl_node *context_node(uint32_t id);

/* Ids given so far: one past the highest. */
uint32_t context_count(void);

/* The chain of tables and the count of nodes; all entries of the newest. */
bool context_is_valid(void);
bool context_entries_are_valid(void);

#endif
