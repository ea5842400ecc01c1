/*
 * api_pool.c: pools that are identified by an address and destroyed with their
 * blocks (gnomon_pool_…), as Valgrind's mempool requests need. This file keeps
 * a table of the blocks of each pool.
 *
 *	shard ── buckets ─▶ node ─▶ node	by (pool, block); a pool is the
 *	                     │			node whose block is NULL
 *	              pool: ring of its nodes
 *
 * The pool's address determines the shard, so a pool and its blocks are in one
 * shard. All of it lies in the area, so a forked child has no pools: it makes
 * them again when they are used.
 *
 * Threads of the target; not in handlers, as a shard has a lock. Nothing is
 * recorded while it is held, except frees of a destroyed pool's blocks, which
 * are no longer in the table. The holder may be stopped, or may have left by a
 * longjmp out of a handler, so waits for a lock are bounded:
 *
 *	FREE ──▶ HELD ──▶ WANTED ── time is up ────▶ LOST
 *	  ▲       │          │                         │
 *	  └───────┴──────────┴── its holder, after all ┘
 *
 * A LOST shard is not used until its holder unlocks it. Only the holder may
 * touch the shard's table.
 *
 * I1: a node is in one bucket and in one pool's ring, or in the free list. I2:
 * two locks are taken in the order of their shards.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "preload/api/api.h"
#include "preload/api/api_init.h"
#include "preload/api/heaps.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"

#define POOLS_SHARDS 64
#define POOLS_BUCKETS 4096	/* of a shard; 16 KiB */
#define POOLS_SLAB 512		/* nodes; 20 KiB */
#define POOLS_SLABS 2048	/* of a shard: a million blocks */
#define POOLS_SPINS 64
#define POOLS_NAP_NS UINT64_C(10000000)
/* Both limits must be reached, as naps may end early, and all threads may be
 * stopped at once. */
#define POOLS_NAPS 100
#define POOLS_TIMEOUT_NS UINT64_C(1000000000)

enum { POOLS_FREE, POOLS_HELD, POOLS_WANTED, POOLS_LOST };

struct pools_node {
	uint64_t pool, block;	/* addresses; block 0: the pool itself */
	uint64_t size;		/* in a pool's node: its heap */
	uint32_t chain;		/* next in the bucket, or free; index + 1 */
	uint32_t next, back;	/* in the pool's ring; indexes */
	uint32_t unused;
};

struct pools_shard {
	_Alignas(BASE_LINE) _Atomic uint32_t lock;	/* futex: POOLS_FREE… */
	_Atomic uint32_t turns;		/* times that it was unlocked */
	uint32_t free;		/* index + 1 */
	uint32_t slabs;
	uint32_t *buckets;	/* index + 1 */
	struct pools_node **slab;
};

struct pools {
	struct pools_shard shard[POOLS_SHARDS];
};

static_assert(sizeof(struct pools) == API_POOLS_BYTES, "it fills its place");
static_assert(sizeof(struct pools_node) == 40, "as gnomon.h says");

static uint64_t pools_hash(uint64_t pool, uint64_t block)
{
	uint64_t h = (pool ^ (block << 17 | block >> 47)) *
		     UINT64_C(0x9e3779b97f4a7c15);

	return h >> 32;
}

static struct pools_shard *pools_shard_of(const void *pool)
{
	return &api_pools->shard[pools_hash((uintptr_t)pool, 0) % POOLS_SHARDS];
}

/* ---- lock ---- */

static bool pools_change(struct pools_shard *shard, uint32_t from, uint32_t to)
{
	/* pairs with the release of pools_unlock */
	return atomic_compare_exchange_strong_explicit(
		&shard->lock, &from, to, memory_order_acquire,
		memory_order_relaxed);
}

/* Whether the holder at `turns` has unlocked it; else takes a nap. */
static bool pools_nap(struct pools_shard *shard, uint32_t turns)
{
	/* the holder must see the waiter before that sleeps */
	if (pools_change(shard, POOLS_HELD, POOLS_WANTED) ||
	    atomic_load_explicit(&shard->lock, memory_order_relaxed) ==
		    POOLS_WANTED)
		recorder_nap(producer, &shard->lock, POOLS_WANTED,
			     POOLS_NAP_NS);
	return atomic_load_explicit(&shard->turns, memory_order_relaxed) !=
	       turns;
}

/* Waits for a bounded time. */
static bool pools_wait(struct pools_shard *shard)
{
	uint64_t timeout = producer_cycles(producer, POOLS_TIMEOUT_NS);
	uint64_t start = arch_cycles();
	uint32_t turns = atomic_load_explicit(&shard->turns,
					      memory_order_relaxed);
	unsigned naps = 0;

	/* other threads may wait as well */
	while (!pools_change(shard, POOLS_FREE, POOLS_WANTED)) {
		if (atomic_load_explicit(&shard->lock, memory_order_relaxed) ==
		    POOLS_LOST)
			return false;
		if (pools_nap(shard, turns)) {
			turns = atomic_load_explicit(&shard->turns,
						     memory_order_relaxed);
			start = arch_cycles();
			naps = 0;
		} else if (++naps >= POOLS_NAPS &&
			   arch_cycles() - start >= timeout) {
			pools_change(shard, POOLS_WANTED, POOLS_LOST);
		}
	}
	return true;
}

static bool pools_lock(struct pools_shard *shard)
{
	unsigned spins;

	for (spins = 0; spins < POOLS_SPINS; spins++) {
		if (pools_change(shard, POOLS_FREE, POOLS_HELD))
			return true;
		arch_pause();
	}
	return pools_wait(shard);
}

static void pools_unlock(struct pools_shard *shard)
{
	DEBUG_ASSERT(atomic_load_explicit(&shard->lock, memory_order_relaxed) !=
		     POOLS_FREE);
	atomic_fetch_add_explicit(&shard->turns, 1, memory_order_relaxed);
	/* pairs with the acquire of pools_change */
	if (atomic_exchange_explicit(&shard->lock, POOLS_FREE,
				     memory_order_release) == POOLS_WANTED &&
	    unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake_some(&shard->lock, 1);
}

/* ---- table; with the lock ---- */

static struct pools_node *pools_node(const struct pools_shard *shard,
				     uint32_t index)
{
	return &shard->slab[index / POOLS_SLAB][index % POOLS_SLAB];
}

static bool pools_grow(struct pools_shard *shard)
{
	struct pools_node *slab;
	uint32_t i, first = shard->slabs * POOLS_SLAB;

	DEBUG_ASSERT(!shard->free);
	if (!shard->buckets)
		shard->buckets = area_alloc(POOLS_BUCKETS * sizeof(uint32_t));
	if (!shard->slab)
		shard->slab = area_alloc(POOLS_SLABS * sizeof(*shard->slab));
	if (!shard->buckets || !shard->slab || shard->slabs == POOLS_SLABS)
		return false;
	slab = area_alloc(POOLS_SLAB * sizeof(*slab));
	if (!slab)
		return false;
	shard->slab[shard->slabs++] = slab;
	for (i = 0; i < POOLS_SLAB; i++) {
		slab[i].chain = shard->free;
		shard->free = first + i + 1;
	}
	return true;
}

static uint32_t *pools_bucket(const struct pools_shard *shard, uint64_t pool,
			      uint64_t block)
{
	return &shard->buckets[pools_hash(pool, block) % POOLS_BUCKETS];
}

/* Index + 1; 0: there is none. */
static uint32_t pools_find(const struct pools_shard *shard, const void *pool,
			   const void *block)
{
	uint32_t at;

	if (!shard->buckets)
		return 0;
	at = *pools_bucket(shard, (uintptr_t)pool, (uintptr_t)block);
	while (at) {
		const struct pools_node *node = pools_node(shard, at - 1);

		if (node->pool == (uintptr_t)pool &&
		    node->block == (uintptr_t)block)
			return at;
		at = node->chain;
	}
	return 0;
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Checks I1 for a node that is not free. */
static bool pools_node_is_valid(const struct pools_shard *shard, uint32_t at)
{
	uint32_t nodes = shard->slabs * POOLS_SLAB;
	const struct pools_node *node = pools_node(shard, at - 1);

	return at <= nodes && node->next < nodes && node->back < nodes &&
	       pools_node(shard, node->next)->back == at - 1 &&
	       pools_node(shard, node->back)->next == at - 1 &&
	       pools_node(shard, node->next)->pool == node->pool &&
	       pools_find(shard, (void *)(uintptr_t)node->pool,
			  (void *)(uintptr_t)node->block) == at;
}

static bool pools_shard_is_valid(const struct pools_shard *shard)
{
	uint32_t i, at, used = 0, free = 0, nodes = shard->slabs * POOLS_SLAB;

	for (i = 0; shard->buckets && i < POOLS_BUCKETS; i++)
		for (at = shard->buckets[i]; at; used++) {
			if (used == nodes || at > nodes ||
			    !pools_node_is_valid(shard, at))
				return false;
			at = pools_node(shard, at - 1)->chain;
		}
	for (at = shard->free; at; free++) {
		if (free == nodes || at > nodes)
			return false;
		at = pools_node(shard, at - 1)->chain;
	}
	return used + free == nodes;
}
#endif

/* `owner`: the pool's node, index + 1; 0: the new node is the pool itself. */
static uint32_t pools_add(struct pools_shard *shard, uint32_t owner,
			  const void *pool, const void *block, uint64_t size)
{
	struct pools_node *node;
	uint32_t at, *bucket;

	if (!shard->free && !pools_grow(shard))
		return 0;
	at = shard->free;
	node = pools_node(shard, at - 1);
	shard->free = node->chain;
	bucket = pools_bucket(shard, (uintptr_t)pool, (uintptr_t)block);
	*node = (struct pools_node){ .pool = (uintptr_t)pool,
				     .block = (uintptr_t)block,
				     .size = size, .chain = *bucket,
				     .next = at - 1, .back = at - 1 };
	*bucket = at;
	if (owner) {
		struct pools_node *head = pools_node(shard, owner - 1);

		node->next = head->next;
		node->back = owner - 1;
		pools_node(shard, head->next)->back = at - 1;
		head->next = at - 1;
	}
	DEBUG_ASSERT(pools_node_is_valid(shard, at));
	DEBUG_ASSERT(at % POOLS_SLAB || pools_shard_is_valid(shard));
	return at;
}

/* Moves a node from its bucket and ring into the free list. */
static void pools_remove(struct pools_shard *shard, uint32_t at)
{
	struct pools_node *node = pools_node(shard, at - 1);
	uint32_t *link = pools_bucket(shard, node->pool, node->block);

	DEBUG_ASSERT(pools_node_is_valid(shard, at));
	while (*link != at)
		link = &pools_node(shard, *link - 1)->chain;
	*link = node->chain;
	pools_node(shard, node->next)->back = node->back;
	pools_node(shard, node->back)->next = node->next;
	node->chain = shard->free;
	shard->free = at;
}

/* Removes a block; false: it is not in the pool. */
static bool pools_forget(struct pools_shard *shard, const void *pool,
			 const void *block)
{
	uint32_t at = pools_find(shard, pool, block);

	if (at)
		pools_remove(shard, at);
	return at;
}

/* ---- helpers of the exported functions ---- */

struct pools_at {
	struct pools_shard *shard;	/* locked */
	uint32_t pool;		/* its node, index + 1; 0: unknown */
	uint32_t heap;
};

static int pools_enter(struct pools_at *at, const void *pool)
{
	if (!api_producer())
		return -ENODEV;
	at->shard = pools_shard_of(pool);
	if (!pools_lock(at->shard))
		return -EBUSY;
	at->pool = pools_find(at->shard, pool, NULL);
	at->heap = at->pool ?
			   pools_node(at->shard, at->pool - 1)->size : 0;
	return 0;
}

/* The heap is 0 if there are no more numbers: then the pool is not recorded. */
static int pools_create(struct pools_at *at, const void *pool,
			const char *name)
{
	at->heap = heaps_create(name ? name : "mempool");
	at->pool = pools_add(at->shard, 0, pool, NULL, at->heap);
	return at->pool ? 0 : -ENOMEM;
}

struct pools_range {
	uint64_t start, size;
};

/* Whether a block is completely in the range. One of no bytes is there if its
 * address is. No sum is formed, so nothing wraps. */
static bool pools_within(const struct pools_node *node,
			 const struct pools_range *range)
{
	uint64_t size = node->size ? node->size : 1;

	return node->block >= range->start && size <= range->size &&
	       node->block - range->start <= range->size - size;
}

/* Frees the blocks that are not completely in `kept`; NULL: all. Holds the
 * lock, although a hook may have to wait for the recorder; other users of the
 * pool then wait, too. */
static void pools_drain(struct pools_at *at, const struct pools_range *kept,
			struct hooks_caller caller)
{
	uint32_t head = at->pool - 1;
	uint32_t index = pools_node(at->shard, head)->next, next;

	DEBUG_ASSERT(at->pool);
	for (; index != head; index = next) {
		const struct pools_node *node = pools_node(at->shard, index);
		uint64_t block = node->block;

		next = node->next;
		if (kept && pools_within(node, kept))
			continue;
		pools_remove(at->shard, index + 1);
		if (heaps_valid(at->heap))
			api_end(at->heap, GT_FREE, (const void *)(uintptr_t)block,
				caller);
	}
}

/* The same, by the pool's address; without `kept`, also frees the pool. */
static int pools_trim(const void *pool, const struct pools_range *kept,
		      struct hooks_caller caller)
{
	struct pools_at at;
	int err = pools_enter(&at, pool);

	if (err)
		return err;
	if (at.pool) {
		pools_drain(&at, kept, caller);
		if (!kept)
			pools_remove(at.shard, at.pool);
	}
	pools_unlock(at.shard);
	return at.pool ? 0 : -ENOENT;
}

API(int, pool_create, (const void *pool, const char *name))
{
	struct pools_at at;
	int err = pools_enter(&at, pool);

	if (err)
		return err;
	err = at.pool ? -EEXIST : pools_create(&at, pool, name);
	pools_unlock(at.shard);
	return err;
}

API(int, pool_destroy, (const void *pool))
{
	return pools_trim(pool, NULL, HOOKS_CALLER);
}

API(int, pool_trim, (const void *pool, const void *start, size_t size))
{
	const struct pools_range kept = { (uintptr_t)start, size };

	return pools_trim(pool, &kept, HOOKS_CALLER);
}

API(int, pool_alloc, (const void *pool, const void *block, size_t size))
{
	struct hooks_caller caller = HOOKS_CALLER;
	struct pools_at at;
	bool old;
	int err = pools_enter(&at, pool);

	if (err)
		return err;
	if (!at.pool)
		err = pools_create(&at, pool, NULL);
	old = !err && block && pools_forget(at.shard, pool, block);
	if (!err && block &&
	    !pools_add(at.shard, at.pool, pool, block, size))
		err = -ENOMEM;
	pools_unlock(at.shard);
	if (err || !block || !heaps_valid(at.heap))
		return err;
	if (old)
		api_end(at.heap, GT_FREE, block, caller);
	api_block(at.heap, GT_ALLOC, block, size, caller);
	return 0;
}

API(int, pool_free, (const void *pool, const void *block))
{
	struct hooks_caller caller = HOOKS_CALLER;
	struct pools_at at;
	bool old;
	int err = pools_enter(&at, pool);

	if (err)
		return err;
	old = at.pool && block && pools_forget(at.shard, pool, block);
	pools_unlock(at.shard);
	if (old && heaps_valid(at.heap))
		api_end(at.heap, GT_FREE, block, caller);
	return old ? 0 : -ENOENT;
}

API(int, pool_change,
    (const void *pool, const void *old, const void *block, size_t size))
{
	struct hooks_caller caller = HOOKS_CALLER;
	struct pools_at at;
	uint32_t found;
	bool over = false;	/* another block was at the new address */
	int err = pools_enter(&at, pool);

	if (err)
		return err;
	found = at.pool && old && block ? pools_find(at.shard, pool, old) : 0;
	if (found) {
		pools_remove(at.shard, found);
		over = pools_forget(at.shard, pool, block);
		DEBUG_ASSERT(at.shard->free);
		/* a node is free */
		pools_add(at.shard, at.pool, pool, block, size);
	}
	pools_unlock(at.shard);
	if (found && heaps_valid(at.heap)) {
		if (over)
			api_end(at.heap, GT_FREE, block, caller);
		api_end(at.heap, GT_REALLOC_BEGIN, old, caller);
		api_block(at.heap, GT_REALLOC_DONE, block, size, caller);
	}
	return found ? 0 : -ENOENT;
}

/* Moves all nodes of a pool to another shard, or to another address in the same
 * shard. Both are locked. If memory runs out, the pool stays in two parts: the
 * new pool has the nodes moved so far. */
static int pools_rename(struct pools_at *at, struct pools_shard *other,
			const void *to)
{
	uint32_t head = at->pool - 1, from, owner;

	owner = pools_add(other, 0, to, NULL, at->heap);
	if (!owner)
		return -ENOMEM;
	while ((from = pools_node(at->shard, head)->next) != head) {
		const struct pools_node *node = pools_node(at->shard, from);

		if (!pools_add(other, owner, to, (const void *)(uintptr_t)node->block,
			       node->size))
			return -ENOMEM;
		pools_remove(at->shard, from + 1);
	}
	pools_remove(at->shard, at->pool);
	return 0;
}

API(int, pool_move, (const void *pool, const void *to))
{
	struct pools_shard *a, *b;
	struct pools_at at;
	int err = -ENOENT;

	if (!api_producer())
		return -ENODEV;
	a = pools_shard_of(pool);
	b = pools_shard_of(to);
	if (!pools_lock(a < b ? a : b))	/* I2 */
		return -EBUSY;
	if (a != b && !pools_lock(a < b ? b : a)) {
		pools_unlock(a < b ? a : b);
		return -EBUSY;
	}
	at.shard = a;
	at.pool = pools_find(a, pool, NULL);
	if (at.pool) {
		at.heap = pools_node(a, at.pool - 1)->size;
		err = pools_find(b, to, NULL) ? -EEXIST :
						pools_rename(&at, b, to);
	}
	if (a != b)
		pools_unlock(a < b ? b : a);
	pools_unlock(a < b ? a : b);
	return err;
}

API(int, pool_exists, (const void *pool))
{
	struct pools_at at;

	if (pools_enter(&at, pool))
		return 0;
	pools_unlock(at.shard);
	return at.pool != 0;
}
