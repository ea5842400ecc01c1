/*
 * context.h: the calling-context tree. A node is (parent, return address);
 * its id names the whole stack outward from it.
 */
#ifndef GNOMON_UNWIND_CONTEXT_H
#define GNOMON_UNWIND_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "unwind/capture.h"
#include "unwind/claim.h"

/* Forgets all earlier state. 0 or -ENOMEM. */
int context_init(const struct capture_config *config);

/*
 * A hash of a whole stack, computed outermost first from the addresses alone
 * (not from ids), so that the look-ups of several new frames can be prefetched
 * before the first of them is answered. context_hash_root: of a stack without
 * frames whose walk ended for this reason.
 */
static inline uint64_t context_hash_root(uint32_t stop)
{
	return stop * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint64_t context_hash(uint64_t outer, uintptr_t address)
{
	return ((outer << 23 | outer >> 41) ^ address) *
	       UINT64_C(0x9e3779b97f4a7c15);
}

/* The index: see context.c. */
#define CONTEXT_PROBE_MAX 128	/* longer runs count as "full" */

struct context_entry {
	_Atomic uint64_t key;
	_Atomic uintptr_t address;
};

struct context_table {
	struct context_table *older;
	unsigned shift;		/* 64 - bits */
	uint32_t mask;
	_Atomic uint32_t used;
	uint32_t limit;
	struct context_entry entries[];
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
	__builtin_prefetch(&t->entries[hash >> t->shift], 0, 3);
}

static inline uint32_t context_find(const struct context_table *t,
				    uint64_t hash, uint32_t parent,
				    uintptr_t address)
{
	uint32_t i = (uint32_t)(hash >> t->shift);
	unsigned probe;

	for (probe = 0; probe < CONTEXT_PROBE_MAX; probe++, i++) {
		const struct context_entry *e = &t->entries[i & t->mask];
		/* Pairs with the exchange in table_add. */
		uint64_t key = atomic_load_explicit(&e->key,
						    memory_order_acquire);

		if (key == 0)
			return 0;
		if ((uint32_t)(key >> 32) == parent &&
		    atomic_load_explicit(&e->address, memory_order_acquire) ==
			    address)
			return (uint32_t)key;
	}
	return 0;
}

/* Looks into older tables, then makes a node. */
uint32_t context_child_slow(struct context_table *t, uint64_t hash,
			    uint32_t parent, uintptr_t address);

/*
 * The node of `address` called from `parent`; made if there is none. `hash` is
 * the whole stack's, this frame included. When no node can be made any more:
 * GT_STOP_NO_MEMORY. Lock-free; any thread, also signal handlers.
 */
static inline uint32_t context_child(uint32_t parent, uintptr_t address,
				     uint64_t hash)
{
	struct context_table *t = context_newest();
	uint32_t id = context_find(t, hash, parent, address);

	CLAIM_FULL(id == 0 || parent < id);
	if (__builtin_expect(id != 0, 1))
		return id;
	return context_child_slow(t, hash, parent, address);
}

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
