/*
 * context.c: the calling-context tree and its index.
 *
 * The nodes lie in the embedder's memory (the live file), possibly in pieces
 * (struct capture_config), and are only appended. The index is private: a list
 * of open-addressed hash tables, newest and largest first, whose buckets are a
 * cache line each. An entry is one word, 0 or
 *
 *	63       32 31        0
 *	+----------+-----------+
 *	| hash>>32 | id        |
 *	+----------+-----------+
 *
 * set by compare-and-swap. A bucket fills up from its first entry on. After a
 * full bucket the search continues at a distance that the hash selects, so that
 * runs do not merge, and a table may be 15/16 full: a search reads 1.3 lines
 * for a hit, 4.3 for a miss (with linear probing: 1.8 and 16). The node itself
 * decides whether it is the requested one.
 *
 * A full table gets a successor. Up to COPY_BITS, which bounds the pause, it is
 * copied without reading nodes, and its memory is given back. A larger table
 * stays and is still searched; nodes found there are entered in the newest
 * table.
 *
 * I1  An entry changes from 0 to a node's; and from a forgotten node's to
 *     another one's with the same tag. In a table that was given back it
 *     becomes 0, and may then become any node's: readers of an entry therefore
 *     check the node.
 * I2  A node is complete before its id appears in an entry.
 * I3  The same (parent, address) may have several nodes (made by two threads at
 *     once, entered while the table was copied, or searched in a table that was
 *     just given back): allowed, the trace's reader merges them.
 * I4  A forgotten node is marked (GL_NODE_DEAD), and readers of its entry check
 *     the mark. A node that is being made at that moment is forgotten as well,
 *     as its address is not known.
 * I5  A node gets its id after its piece is mapped.
 *
 * Thread context: any thread, also signal handlers; no locks.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/base/memory.h"

#define FIRST_BITS 10		/* two pages: small programs fit */
#define LARGE_BITS 18		/* a large page */
#define COPY_BITS 19		/* 500 000 entries: some 5 ms */
#define LAST_BITS 28
#define BUCKET_BITS 3
#define TABLES_MAX 24		/* nine sizes, and tables that lost a race */
#define RETRY_AFTER 256u	/* after a failed allocation, calls until the
				 * next try */

_Static_assert(1u << BUCKET_BITS == CONTEXT_BUCKET, "entries of a bucket");
_Static_assert(sizeof(struct context_bucket) == 64, "a cache line");
_Static_assert(LAST_BITS - BUCKET_BITS <= 32, "a tag tells the bucket");

static struct capture_config config;
static context_step *step_of;
_Atomic uintptr_t context_pieces[CONTEXT_PIECES];
uint32_t context_first_piece;
struct context_table *_Atomic context_tables;

/* Tables are described outside their own memory: a child forked meanwhile may
 * have less of that memory than it expects (it reads as empty then), but it has
 * this array. */
static struct context_table tables[TABLES_MAX];
static _Atomic unsigned table_count;
static _Atomic uint32_t refused;	/* failed allocations */
/* The table that a thread is copying. A hint: the copy may never finish. */
static struct context_table *_Atomic growing;

static unsigned table_bits(const struct context_table *t)
{
	return 64 + BUCKET_BITS - t->shift;
}

static size_t table_bytes(unsigned bits)
{
	return sizeof(uint64_t) << bits;
}

/* The next size. Sizes between a few pages and a large page save little. */
static unsigned table_next_bits(unsigned bits)
{
	if (bits < LARGE_BITS)
		return bits + 4;
	return bits + (bits <= COPY_BITS ? 1 : 2);
}

static struct context_table *table_new(unsigned bits,
				       struct context_table *older)
{
	struct context_bucket *bucket;
	struct context_table *t;
	unsigned n;

	if (atomic_load_explicit(&table_count, memory_order_relaxed) >=
	    TABLES_MAX)
		return NULL;
	bucket = unwind_alloc(table_bytes(bits));
	if (!bucket)
		return NULL;
	n = atomic_fetch_add_explicit(&table_count, 1, memory_order_relaxed);
	if (n >= TABLES_MAX)
		return NULL;
	t = &tables[n];
	unwind_want_pages(bucket, table_bytes(bits));
	t->bucket = bucket;
	atomic_store_explicit(&t->used, 0, memory_order_relaxed);
	t->first = 0;
	t->older = older;
	t->shift = 64 + BUCKET_BITS - bits;
	t->mask = (UINT32_C(1) << (bits - BUCKET_BITS)) - 1;
	t->limit = (UINT32_C(1) << bits) / 16 * 15;
	ASSERT(bits >= FIRST_BITS && bits <= LAST_BITS);
	DEBUG_ASSERT(!older || older->mask < t->mask);
	return t;
}

static struct gl_node *node_at(uint32_t id)
{
	return (struct gl_node *)context_node_at(id);
}

/* Several threads may map a piece at once, and get the same address. */
static bool piece_map(unsigned piece)
{
	uint32_t first = config.nodes_first << (piece - 1);
	uintptr_t nodes = config.map_nodes ?
				  (uintptr_t)config.map_nodes(piece) : 0;

	ASSERT(piece > 0 && piece < CONTEXT_PIECES);
	ASSERT(nodes % sizeof(uint64_t) == 0);
	if (!nodes)
		return false;
	atomic_store_explicit(&context_pieces[piece],
			      nodes - first * sizeof(struct gl_node),
			      memory_order_release);
	return true;
}

/* Whether the node's memory is mapped (I5). */
static bool node_is_mapped(uint32_t id)
{
	unsigned piece = context_piece_of(id);

	return atomic_load_explicit(&context_pieces[piece],
				    memory_order_acquire) ||
	       piece_map(piece);
}

static void pieces_init(void)
{
	unsigned i;

	for (i = 1; i < CONTEXT_PIECES; i++)
		atomic_store_explicit(&context_pieces[i], 0,
				      memory_order_relaxed);
	atomic_store_explicit(&context_pieces[0], (uintptr_t)config.nodes,
			      memory_order_release);
}

int context_init(const struct capture_config *c, context_step *step)
{
	struct context_table *t;

	config = *c;
	step_of = step;
	context_first_piece = c->nodes_first;
	pieces_init();
	atomic_store_explicit(&table_count, 0, memory_order_relaxed);
	atomic_store_explicit(&refused, 0, memory_order_relaxed);
	atomic_store_explicit(&growing, NULL, memory_order_relaxed);
	t = table_new(FIRST_BITS, NULL);
	if (!t)
		return -12;	/* ENOMEM */
	atomic_store_explicit(&context_tables, t, memory_order_release);
	DEBUG_ASSERT(context_is_valid());
	return 0;
}

/* I1: whether an entry may be replaced by one with this tag. */
static bool entry_is_left(uint64_t entry, uint32_t tag)
{
	return !entry || (context_tag(entry) == tag &&
			  __atomic_load_n(&node_at((uint32_t)entry)->flags,
					  __ATOMIC_RELAXED) & GL_NODE_DEAD);
}

static bool bucket_add(struct context_table *t, struct context_bucket *b,
		       uint32_t tag, uint32_t id)
{
	unsigned i;

	for (i = 0; i < CONTEXT_BUCKET; i++) {
		/* pairs with another thread's release below: a node is read */
		uint64_t was = atomic_load_explicit(&b->entry[i],
						    memory_order_acquire);
		bool empty = was == 0;

		/* pairs with the acquire of context_search: I2 */
		if (!entry_is_left(was, tag) ||
		    !atomic_compare_exchange_strong_explicit(
			    &b->entry[i], &was, (uint64_t)tag << 32 | id,
			    memory_order_release, memory_order_relaxed))
			continue;
		atomic_fetch_add_explicit(&t->used, empty,
					  memory_order_relaxed);
		return true;
	}
	return false;
}

/* False: no free entry near enough. */
static bool table_add(struct context_table *t, uint64_t hash, uint32_t id)
{
	uint32_t tag = context_tag(hash), i = (uint32_t)(hash >> t->shift);
	unsigned probe;

	DEBUG_ASSERT(id >= GT_STOP_COUNT && id < context_count());	/* I2 */
	for (probe = 0; probe < CONTEXT_PROBE_MAX;
	     probe++, i += context_stride(tag))
		if (bucket_add(t, &t->bucket[i & t->mask], tag, id))
			return true;
	return false;
}

/* Copies an entry into a table that no other thread knows yet. */
static void entry_copy(struct context_table *to, uint64_t entry)
{
	uint32_t tag = context_tag(entry), probe;
	uint32_t i = (uint32_t)((uint64_t)tag << 32 >> to->shift);

	for (probe = 0; probe < CONTEXT_PROBE_MAX * CONTEXT_BUCKET; probe++) {
		_Atomic uint64_t *e = &to->bucket[i & to->mask]
					       .entry[probe % CONTEXT_BUCKET];

		if (!atomic_load_explicit(e, memory_order_relaxed)) {
			atomic_store_explicit(e, entry, memory_order_relaxed);
			atomic_store_explicit(&to->used, to->used + 1,
					      memory_order_relaxed);
			return;
		}
		if (probe % CONTEXT_BUCKET == CONTEXT_BUCKET - 1)
			i += context_stride(tag);
	}
}

static void table_copy(struct context_table *to,
		       const struct context_table *from)
{
	uint32_t i, k;

	DEBUG_ASSERT(from->mask < to->mask);
	for (i = 0; i <= from->mask; i++)
		for (k = 0; k < CONTEXT_BUCKET; k++) {
			uint64_t entry = atomic_load_explicit(
				&from->bucket[i].entry[k],
				memory_order_acquire);

			if (entry)
				entry_copy(to, entry);
		}
}

static void table_leave(struct context_table *t)
{
	unwind_leave_pages(t->bucket, table_bytes(table_bits(t)));
}

static struct context_table *table_grow(struct context_table *t)
{
	unsigned bits = table_bits(t);
	bool copy = bits <= COPY_BITS;
	struct context_table *newest = t, *next;

	if (atomic_load_explicit(&refused, memory_order_relaxed) %
	    RETRY_AFTER) {
		atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
		return t;
	}
	atomic_store_explicit(&growing, t, memory_order_relaxed);
	next = table_new(table_next_bits(bits), copy ? t->older : t);
	if (!next) {
		atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
		return t;
	}
	next->first = copy ? t->first : context_count();
	if (copy)
		table_copy(next, t);
	if (!atomic_compare_exchange_strong_explicit(&context_tables, &newest,
						     next,
						     memory_order_release,
						     memory_order_acquire)) {
		table_leave(next);
		return newest;
	}
	/* a thread that still searches it finds nothing: I3 */
	if (copy)
		table_leave(t);
	DEBUG_ASSERT(context_is_valid());
	return next;
}

static void table_enter(uint64_t hash, uint32_t id)
{
	struct context_table *t = context_newest();

	if (atomic_load_explicit(&t->used, memory_order_relaxed) < t->limit &&
	    table_add(t, hash, id))
		return;
	/* there is still room, and a second copy would be useless */
	if (atomic_load_explicit(&growing, memory_order_relaxed) == t &&
	    table_add(t, hash, id))
		return;
	if (table_bits(t) < LAST_BITS)
		t = table_grow(t);
	table_add(t, hash, id);
}

static uint32_t node_new(uint32_t parent, uintptr_t address, bool steps)
{
	uint32_t id = atomic_load_explicit(config.node_count,
					   memory_order_relaxed);
	struct gl_node *node;

	for (;;) {
		/* Pairs with the recorder's release after it reserved pages. */
		uint32_t limit = atomic_load_explicit(config.node_limit,
						      memory_order_acquire);

		if (id >= limit) {
			if (config.want_nodes)
				config.want_nodes();
			limit = atomic_load_explicit(config.node_limit,
						     memory_order_acquire);
			if (id >= limit)
				return GT_STOP_NO_MEMORY;
		}
		if (!node_is_mapped(id))
			return GT_STOP_NO_MEMORY;
		if (atomic_compare_exchange_weak_explicit(
			    config.node_count, &id, id + 1,
			    memory_order_acq_rel, memory_order_relaxed))
			break;
	}
	/* so that walking up the tree ends */
	if (!ASSERT(parent < id))
		return GT_STOP_NO_MEMORY;
	ASSERT(id >= GT_STOP_COUNT);
	node = node_at(id);
	DEBUG_ASSERT(node->parent == 0 && !(node->flags & ~GL_NODE_DEAD));
	/* in a shared mapping a read maps all cached pages around it, a write
	 * only its own */
	(void)__atomic_load_n(&node->parent, __ATOMIC_RELAXED);
	node->parent = parent;
	__atomic_store_n(&node->address, address, __ATOMIC_RELAXED);
	/* I4: it may be marked already */
	__atomic_fetch_or(&node->flags,
			  steps ? step_of(address) : step_rare_of(STEP_ASK),
			  __ATOMIC_RELEASE);
	return id;
}

uint32_t context_child_slow(struct context_table *t, uint64_t hash,
			    uint32_t parent, uintptr_t address, bool steps)
{
	uint32_t id;

	/* (Another thread may add the node to an older table meanwhile: I3.) */
	for (; t->older && parent < t->first; t = t->older) {
		id = context_find(t->older, hash, parent, address);
		if (id)
			goto enter;
	}
	id = node_new(parent, address, steps);
	if (id < GT_STOP_COUNT)
		return id;
enter:
	DEBUG_ASSERT(id >= GT_STOP_COUNT && parent < id &&
		     id < context_count());
	table_enter(hash, id);
	return id;
}

static uint32_t find_each(const uintptr_t *addresses, uint32_t n, uint32_t stop,
			  bool steps)
{
	const struct context_table *table = context_newest();
	uint64_t hash = context_hash_root(stop);
	uint32_t context = stop, i;

	DEBUG_ASSERT(stop < GT_STOP_COUNT);
	for (i = n; i-- > 0;) {
		hash = context_hash(hash, addresses[i]);
		context_prefetch(table, hash);
	}
	hash = context_hash_root(stop);
	while (n-- > 0) {
		hash = context_hash(hash, addresses[n]);
		context = context_child(context, addresses[n], hash, steps);
	}
	return context;
}

uint32_t context_of(const uintptr_t *addresses, uint32_t n, uint32_t stop)
{
	return find_each(addresses, n, stop, false);
}

static bool is_stack(uint32_t id, const uintptr_t *addresses, uint32_t n,
		     uint32_t stop)
{
	struct context_trail trail;
	uint32_t i;

	if (!id)
		return false;
	trail = context_trail_at(id);
	for (i = 0; i < n; i++)
		if (!context_trail_step(&trail, addresses[i]))
			return false;
	return trail.id == stop;
}

uint32_t context_of_walk(const uintptr_t *addresses, uint32_t n, uint32_t stop,
			 uint64_t hash)
{
	uint32_t id;

	DEBUG_ASSERT(n > 0);
	id = context_guess(context_newest(), hash, addresses[0]);
	if (!is_stack(id, addresses, n, stop))
		id = find_each(addresses, n, stop, true);
	return id;
}

void context_forget(uintptr_t start, uintptr_t end, uint32_t first)
{
	uint32_t i, n = context_count();

	DEBUG_ASSERT(first <= n);
	for (i = first < GT_STOP_COUNT ? GT_STOP_COUNT : first; i < n; i++) {
		struct gl_node *node = node_at(i);
		uintptr_t address = __atomic_load_n(&node->address,
						    __ATOMIC_SEQ_CST);

		/* 0: the node is being made */
		if (!address || (address >= start && address < end))
			__atomic_fetch_or(&node->flags, GL_NODE_DEAD,
					  __ATOMIC_SEQ_CST);
	}
}

const struct gl_node *context_node(uint32_t id)
{
	DEBUG_ASSERT(id >= GT_STOP_COUNT && id < context_count());
	return node_at(id);
}

uint32_t context_count(void)
{
	return atomic_load_explicit(config.node_count, memory_order_acquire);
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool table_is_valid(const struct context_table *t)
{
	unsigned bits = table_bits(t);

	return bits >= FIRST_BITS && bits <= LAST_BITS &&
	       t->mask == (UINT32_C(1) << (bits - BUCKET_BITS)) - 1 &&
	       t->limit == (UINT32_C(1) << bits) / 16 * 15 &&
	       (!t->older || t->older->mask < t->mask);
}

bool context_is_valid(void)
{
	const struct context_table *t;

	for (t = context_newest(); t; t = t->older)
		if (!table_is_valid(t))
			return false;
	return context_newest() && context_count() >= GT_STOP_COUNT &&
	       context_count() <= config.node_max;
}

bool context_entries_are_valid(void)
{
	const struct context_table *t = context_newest();
	uint32_t i, count = context_count();

	for (i = 0; i < (t->mask + 1) * CONTEXT_BUCKET; i++) {
		uint32_t id = (uint32_t)atomic_load_explicit(
			&t->bucket[i / CONTEXT_BUCKET].entry[i % CONTEXT_BUCKET],
			memory_order_acquire);

		if (id && (id < GT_STOP_COUNT || id >= count ||
			   node_at(id)->parent >= id || !node_at(id)->address))
			return false;	/* I2 */
	}
	return true;
}
#endif
