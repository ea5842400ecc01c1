/*
 * context.c: the calling-context tree and its index.
 *
 * The nodes lie in memory of the embedder's (in the live file), which may be in
 * pieces (struct capture_config), and are only appended. The index is private: a
 * list of open-addressed tables, newest and largest first. An entry is two words,
 *
 *	key:     parent << 32 | id      claimed by compare-and-swap from 0
 *	address: the return address     by compare-and-swap from 0, after it
 *
 * so that a hit touches one cache line and no node. A table that is 5/8 full
 * gets a successor of four times the size. A small table is copied into it
 * (COPY_BITS bounds the pause) and forgotten; a large one stays and is still
 * searched, and what is found there is entered in the newest.
 *
 * I1  An entry never changes after its address was stored, but for the
 *     address becoming DEAD (context_forget), which is for ever.
 * I2  A node is complete before its id appears in an entry.
 * I3  The same (parent, address) may have several nodes (two threads at the
 *     same moment, an entry half written, or made while its table was being
 *     copied): allowed, the reader merges them.
 * I4  A node that was forgotten has no entry, whatever others do meanwhile.
 *     Who forgets marks the node (GL_NODE_DEAD), and looks for entries then;
 *     who made an entry looks at the node then; who published a table, at
 *     all that was copied into it. All of this is sequentially consistent,
 *     so one of the two finds the other. A node that is only being made at
 *     that time is forgotten as well, as its address is not known.
 *
 * I5  An id is given to a node when its piece is there.
 *
 * Thread context: any thread, also signal handlers; no locks.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "unwind/claim.h"
#include "unwind/context.h"
#include "unwind/memory.h"
#include "unwind/walk.h"

#define FIRST_BITS 12		/* 4096 entries: small programs fit */
#define GROW_BITS 2
#define COPY_BITS 17		/* 80 000 entries: under a millisecond */
#define LAST_BITS 28
#define DEAD UINTPTR_MAX	/* no address of code */

_Static_assert(COPY_BITS + GROW_BITS <= STEP_HASH_BITS,
	       "a node's bits of its hash are enough to copy it");

static struct capture_config config;
_Atomic uintptr_t context_pieces[CONTEXT_PIECES];
uint32_t context_first_piece;
struct context_table *_Atomic context_tables;

static struct context_table *table_new(unsigned bits,
				       struct context_table *older)
{
	size_t n = (size_t)1 << bits;
	struct context_table *t;

	t = unwind_alloc(sizeof(*t) + n * sizeof(struct context_entry));
	if (!t)
		return NULL;
	unwind_want_pages(t, sizeof(*t) + n * sizeof(struct context_entry));
	t->older = older;
	t->shift = 64 - bits;
	t->mask = (uint32_t)(n - 1);
	t->limit = (uint32_t)(n / 8 * 5);
	CLAIM(bits >= FIRST_BITS && bits <= LAST_BITS);
	CLAIM_FULL(!older || older->mask < t->mask);
	return t;
}

static struct gl_node *node_at(uint32_t id)
{
	return (struct gl_node *)context_node_at(id);
}

/* Several threads may do it at once, and find the same. */
static bool piece_map(unsigned piece)
{
	uint32_t first = config.nodes_first << (piece - 1);
	uintptr_t nodes = config.map_nodes ?
				  (uintptr_t)config.map_nodes(piece) : 0;

	CLAIM(piece > 0 && piece < CONTEXT_PIECES);
	CLAIM(nodes % sizeof(uint64_t) == 0);
	if (!nodes)
		return false;
	atomic_store_explicit(&context_pieces[piece],
			      nodes - first * sizeof(struct gl_node),
			      memory_order_release);
	return true;
}

/* Whether the node has a place (I5). */
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

int context_init(const struct capture_config *c)
{
	struct context_table *t;

	config = *c;
	context_first_piece = c->nodes_first;
	pieces_init();
	t = table_new(FIRST_BITS, NULL);
	if (!t)
		return -12;	/* ENOMEM */
	atomic_store_explicit(&context_tables, t, memory_order_release);
	CLAIM_FULL(context_is_valid());
	return 0;
}

static uint64_t hash_of_flags(uint32_t flags)
{
	return (uint64_t)(flags >> 16) << 48 | (uint64_t)(flags >> 5 & 7) << 45;
}

static uint32_t node_flags(uint32_t id)
{
	/* I4: pairs with the fetch_or in context_forget */
	return __atomic_load_n(&node_at(id)->flags, __ATOMIC_SEQ_CST);
}

/* The entry was claimed for this node. */
static void entry_fill(struct context_entry *e, uintptr_t address, uint32_t id)
{
	uintptr_t empty = 0;

	CLAIM_FULL(id >= GT_STOP_COUNT && id < context_count());	/* I2 */
	/* Fails where it is DEAD by now. */
	atomic_compare_exchange_strong_explicit(&e->address, &empty, address,
						memory_order_seq_cst,
						memory_order_relaxed);
	CLAIM_FULL(empty == 0 || empty == DEAD);	/* I1 */
	if (node_flags(id) & GL_NODE_DEAD)
		atomic_store_explicit(&e->address, DEAD,
				      memory_order_relaxed);
}

/* False: no free entry near enough. */
static bool table_add(struct context_table *t, uint64_t hash, uint32_t parent,
		      uintptr_t address, uint32_t id)
{
	uint64_t key = (uint64_t)parent << 32 | id;
	uint32_t i = (uint32_t)(hash >> t->shift);
	unsigned probe;

	CLAIM_FULL(id >= GT_STOP_COUNT && parent < id);
	for (probe = 0; probe < CONTEXT_PROBE_MAX; probe++, i++) {
		struct context_entry *e =
			&t->entries[i & t->mask];
		uint64_t empty = 0;

		if (atomic_load_explicit(&e->key, memory_order_relaxed) != 0)
			continue;
		if (!atomic_compare_exchange_strong_explicit(
			    &e->key, &empty, key, memory_order_seq_cst,
			    memory_order_relaxed))
			continue;
		entry_fill(e, address, id);
		atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed);
		CLAIM_FULL(atomic_load_explicit(&t->used,
						memory_order_relaxed) <=
			   t->mask + 1);
		return true;
	}
	return false;
}

static void table_copy(struct context_table *to,
		       const struct context_table *from)
{
	uint32_t i;

	CLAIM_FULL(from->mask < to->mask);
	for (i = 0; i <= from->mask; i++) {
		const struct context_entry *e = &from->entries[i];
		uint64_t key = atomic_load_explicit(&e->key,
						    memory_order_acquire);
		uintptr_t address = atomic_load_explicit(&e->address,
							 memory_order_acquire);

		if (key == 0 || address == 0 || address == DEAD)
			continue;
		table_add(to,
			  hash_of_flags(node_flags((uint32_t)key)),
			  (uint32_t)(key >> 32), address, (uint32_t)key);
	}
}

/* A node and its hash, all of it. */
struct hashed {
	uint32_t id;
	uint64_t hash;
};

/* Of another one; mostly it is called from the last one's. */
static void hash_node(struct hashed *last, uint32_t id)
{
	struct context_sum sum = context_sum_start();
	const struct gl_node *of = node_at(id);

	if (last->id && of->parent == last->id) {
		last->hash = context_hash(last->hash, of->address);
		last->id = id;
		return;
	}
	last->id = id;
	while (id >= GT_STOP_COUNT) {
		const struct gl_node *node = node_at(id);
		uint32_t parent = node->parent;

		if (parent >= id)
			break;
		context_sum_add(&sum, node->address);
		id = parent;
	}
	last->hash = context_sum_end(&sum, id);
}

/* The entry of a node, found as a look-up finds it: by the node's hash. */
static void entry_forget(struct context_table *t, uint64_t hash, uint32_t id)
{
	uint32_t i = (uint32_t)(hash >> t->shift);
	unsigned probe;

	CLAIM_FULL(node_flags(id) & GL_NODE_DEAD);	/* I4 */
	for (probe = 0; probe < CONTEXT_PROBE_MAX; probe++, i++) {
		struct context_entry *e = &t->entries[i & t->mask];
		uint64_t key = atomic_load_explicit(&e->key,
						    memory_order_seq_cst);

		if (key == 0)
			return;
		if ((uint32_t)key == id)
			atomic_store_explicit(&e->address, DEAD,
					      memory_order_relaxed);
	}
}

/* I4: of all that was copied, what was forgotten meanwhile. */
static void table_forget(struct context_table *to,
			 const struct context_table *from)
{
	uint32_t i;

	CLAIM_FULL(from->mask < to->mask);
	for (i = 0; i <= from->mask; i++) {
		uint32_t id = (uint32_t)atomic_load_explicit(
			&from->entries[i].key, memory_order_relaxed);
		uint32_t flags = id ? node_flags(id) : 0;

		if (flags & GL_NODE_DEAD)
			entry_forget(to, hash_of_flags(flags), id);
	}
}

static struct context_table *table_grow(struct context_table *t)
{
	unsigned bits = 64 - t->shift;
	bool copy = bits <= COPY_BITS;
	struct context_table *next = table_new(bits + GROW_BITS,
					       copy ? t->older : t);
	struct context_table *newest = t;

	if (!next)
		return t;
	CLAIM_FULL(next->mask >> GROW_BITS == t->mask);
	next->first = copy ? t->first : context_count();
	if (copy)
		table_copy(next, t);
	/* A loser's table is lost; it was small beside the budget. */
	if (!atomic_compare_exchange_strong_explicit(&context_tables, &newest,
						     next,
						     memory_order_seq_cst,
						     memory_order_acquire))
		return newest;
	if (copy)
		table_forget(next, t);
	CLAIM_FULL(context_is_valid());
	return next;
}

static void table_enter(uint64_t hash, uint32_t parent, uintptr_t address,
			uint32_t id)
{
	struct context_table *t = context_newest();

	if (atomic_load_explicit(&t->used, memory_order_relaxed) < t->limit &&
	    table_add(t, hash, parent, address, id))
		return;
	if (64 - t->shift + GROW_BITS <= LAST_BITS)
		t = table_grow(t);
	table_add(t, hash, parent, address, id);
}

static uint32_t node_new(uint32_t parent, uintptr_t address, uint64_t hash,
			 bool steps)
{
	uint32_t id = atomic_load_explicit(config.node_count,
					   memory_order_relaxed);
	struct gl_node *node;

	for (;;) {
		/* Pairs with the writer's release after it reserved pages. */
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
	/* a walk up the tree ends */
	if (!CLAIM(parent < id))
		return GT_STOP_NO_MEMORY;
	CLAIM(id >= GT_STOP_COUNT);
	node = node_at(id);
	CLAIM_FULL(node->parent == 0 && !(node->flags & ~GL_NODE_DEAD));
	/* of a shared mapping a read brings all pages around that are there, a
	 * write its own only */
	(void)__atomic_load_n(&node->parent, __ATOMIC_RELAXED);
	node->parent = parent;
	__atomic_store_n(&node->address, address, __ATOMIC_RELAXED);
	/* I4: it may be marked already */
	__atomic_fetch_or(&node->flags,
			  context_flags_of(hash) |
				  (steps ? walk_step(address) :
					   step_rare_of(STEP_ASK)),
			  __ATOMIC_RELEASE);
	return id;
}

uint32_t context_child_slow(struct context_table *t, uint64_t hash,
			    uint32_t parent, uintptr_t address, bool steps)
{
	uint32_t id;

	/* (But for what another thread puts into an older one meanwhile: I3.) */
	for (; t->older && parent < t->first; t = t->older) {
		id = context_find(t->older, hash, parent, address);
		if (id)
			goto enter;
	}
	id = node_new(parent, address, hash, steps);
	if (id < GT_STOP_COUNT)
		return id;
enter:
	CLAIM_FULL(id >= GT_STOP_COUNT && parent < id && id < context_count());
	table_enter(hash, parent, address, id);
	return id;
}

static uint32_t find_each(const uintptr_t *addresses, uint32_t n, uint32_t stop,
			  bool steps)
{
	const struct context_table *table = context_newest();
	uint64_t hash = context_hash_root(stop);
	uint32_t context = stop, i;

	CLAIM_FULL(stop < GT_STOP_COUNT);
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

	CLAIM_FULL(n > 0);
	id = context_guess(context_newest(), hash, addresses[0]);
	if (!is_stack(id, addresses, n, stop))
		id = find_each(addresses, n, stop, true);
	return id;
}

void context_forget(uintptr_t start, uintptr_t end, uint32_t first)
{
	uint32_t i, n = context_count();
	struct hashed last = { 0, 0 };

	CLAIM_FULL(first <= n);
	for (i = first < GT_STOP_COUNT ? GT_STOP_COUNT : first; i < n; i++) {
		struct gl_node *node = node_at(i);
		uintptr_t address = __atomic_load_n(&node->address,
						    __ATOMIC_SEQ_CST);
		struct context_table *t;
		uint32_t flags;

		/* 0: it is being made */
		if (address && (address < start || address >= end))
			continue;
		flags = __atomic_fetch_or(&node->flags, GL_NODE_DEAD,
					  __ATOMIC_SEQ_CST);
		if (flags & GL_NODE_DEAD)
			continue;
		/* I4: after the mark, each time */
		t = atomic_load_explicit(&context_tables,
					 memory_order_seq_cst);
		hash_node(&last, i);
		for (; t; t = t->older)
			entry_forget(t, last.hash, i);
	}
}

const struct gl_node *context_node(uint32_t id)
{
	CLAIM_FULL(id >= GT_STOP_COUNT && id < context_count());
	return node_at(id);
}

uint32_t context_count(void)
{
	return atomic_load_explicit(config.node_count, memory_order_acquire);
}

#ifdef GNOMON_CLAIMS
static bool table_is_valid(const struct context_table *t)
{
	unsigned bits = 64 - t->shift;

	return bits >= FIRST_BITS && bits <= LAST_BITS &&
	       t->mask == (UINT32_C(1) << bits) - 1 &&
	       t->limit == (t->mask + 1) / 8 * 5 &&
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

	for (i = 0; i <= t->mask; i++) {
		uint64_t key = atomic_load_explicit(&t->entries[i].key,
						    memory_order_acquire);
		uintptr_t address = atomic_load_explicit(
			&t->entries[i].address, memory_order_acquire);
		uint32_t id = (uint32_t)key, parent = (uint32_t)(key >> 32);

		if (!key || !address || address == DEAD)
			continue;
		if (id < GT_STOP_COUNT || id >= count || parent >= id ||
		    node_at(id)->address != address)
			return false;	/* I2 */
	}
	return true;
}
#endif
