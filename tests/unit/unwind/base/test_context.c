/* test_context.c: the tree's index: growth, threads, forgetting, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/unit/stepped.h"
#include "tests/unit/test_unwinder.h"
#include "unwind/base/context.h"

#define MANY 1000000u	/* the last table before is not copied */

static uint32_t no_step(uintptr_t address)
{
	(void)address;
	return step_rare_of(STEP_ASK);
}

static uint32_t child(uint32_t parent, uintptr_t address)
{
	struct context_sum sum = context_sum_start();
	uint32_t outer = parent;

	context_sum_add(&sum, address);
	for (; outer >= GT_STOP_COUNT; outer = context_node(outer)->parent)
		context_sum_add(&sum, context_node(outer)->address);
	return context_child(parent, address, context_sum_end(&sum, outer),
			     false);
}

static void start(void)
{
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
}

static void test_same_key_same_id(void **unused)
{
	static uint32_t id[MANY];
	uint32_t i;

	(void)unused;
	start();
	for (i = 0; i < MANY; i++) {
		uint32_t parent = i ? id[i / 3] : 0;

		id[i] = child(parent, 0x400000 + i * 7);
		assert_true(id[i] >= GT_STOP_COUNT);
		assert_int_equal(context_node(id[i])->parent, parent);
		assert_int_equal(context_node(id[i])->address,
				 0x400000 + i * 7);
	}
	assert_int_equal(context_count(), MANY + GT_STOP_COUNT);
	assert_non_null(context_newest()->older);
	for (i = 0; i < MANY; i++)
		assert_int_equal(child(i ? id[i / 3] : 0,
					       0x400000 + i * 7),
				 id[i]);
	assert_int_equal(context_count(), MANY + GT_STOP_COUNT);
}

static void *grow(void *arg)
{
	uint32_t *id = arg, i;

	for (i = 0; i < 50000; i++)
		id[i] = child(i ? id[i / 2] : 0, 0x1000 + i % 977);
	return NULL;
}

/* Threads that race may make duplicates, never wrong nodes. */
static void test_threads(void **unused)
{
	static uint32_t id[2][50000];
	pthread_t t[2];
	uint32_t i, k;

	(void)unused;
	start();
	for (k = 0; k < 2; k++)
		pthread_create(&t[k], NULL, grow, id[k]);
	for (k = 0; k < 2; k++)
		pthread_join(t[k], NULL);
	for (k = 0; k < 2; k++)
		for (i = 0; i < 50000; i++) {
			const struct gl_node *n = context_node(id[k][i]);

			assert_int_equal(n->address, 0x1000 + i % 977);
			assert_int_equal(n->parent, i ? id[k][i / 2] : 0);
		}
}

static void test_forget(void **unused)
{
	uint32_t a, b;

	(void)unused;
	start();
	a = child(0, 0x5000);
	b = child(0, 0x7000);
	context_forget(0x5000, 0x6000, 0);
	assert_int_not_equal(child(0, 0x5000), a);
	assert_int_equal(child(0, 0x7000), b);
	assert_true(context_node(a)->flags & GL_NODE_DEAD);
	assert_false(context_node(b)->flags & GL_NODE_DEAD);
}

/* The same code comes and goes: what is forgotten takes no room. */
static void test_forgotten_again_and_again(void **unused)
{
	uint32_t i, id = 0, kept, used = 0;

	(void)unused;
	start();
	kept = child(0, 0x7000);
	for (i = 0; i < 1000; i++) {
		uint32_t again = child(0, 0x5000);

		assert_int_not_equal(again, id);
		assert_int_equal(child(0, 0x5000), again);
		context_forget(0x5000, 0x6000, id);
		id = again;
		if (i == 0)
			used = context_newest()->used;
	}
	assert_int_equal(context_newest()->used, used);
	assert_null(context_newest()->older);
	assert_int_equal(child(0, 0x7000), kept);
}

/* ---- the index ---- */

static void test_tags(void **unused)
{
	static const uint32_t tags[] = { 0, 1, 0x80000000u, UINT32_MAX };
	struct context_bucket b;
	uint32_t i, k, set;

	(void)unused;
	for (set = 0; set < 256; set++)
		for (k = 0; k < 4; k++) {
			uint32_t want = 0;

			for (i = 0; i < CONTEXT_BUCKET; i++) {
				uint32_t other = tags[k] ^ 1u << (i * 4 + k);
				bool is = set >> i & 1;

				/* the lower half is not looked at */
				b.entry[i] = (uint64_t)(is ? tags[k] : other)
						     << 32 | tags[k];
				want |= (uint32_t)is << (2 * i + 1);
			}
			assert_int_equal(arch_tags_are(b.entry, tags[k]), want);
		}
}

static uint32_t used_of(const struct context_table *t)
{
	uint32_t i, k, n = 0;

	for (i = 0; i <= t->mask; i++)
		for (k = 0; k < CONTEXT_BUCKET; k++)
			n += t->bucket[i].entry[k] != 0;
	return n;
}

/* Of a table that was copied, what lies in pages of any kernel is given back, and
 * it harms nobody who still looks into it. */
static void test_copied_table_is_given_back(void **unused)
{
	struct context_table *first, *second, *third;
	uint32_t i = 0, id;

	(void)unused;
	start();
	first = context_newest();
	while (context_newest() == first)
		child(0, 0x400000 + i++);
	second = context_newest();
	assert_int_equal(first->used, i - 1);
	assert_int_equal(second->used, i);
	while (context_newest() == second)
		child(0, 0x400000 + i++);
	third = context_newest();
	assert_int_equal(second->used, i - 1);
	/* 64 KB at least, of 128 */
	assert_in_range(used_of(second), 0, i * 5 / 8);
	assert_int_equal(third->used, i);
	assert_int_equal(used_of(third), i);
	assert_null(third->older);
	for (i = 0; i < 1000; i++) {
		uint64_t hash = context_hash(context_hash_root(0), 0x400000 + i);

		id = context_child_slow(second, hash, 0, 0x400000 + i, false);
		assert_int_equal(context_node(id)->address, 0x400000 + i);
	}
	assert_int_equal(child(0, 0x400001), GT_STOP_COUNT + 1);
}

static void *(*alloc_before)(size_t size);
static unsigned allocs;

static void *alloc_nothing(size_t size)
{
	(void)size;
	allocs++;
	return NULL;
}

/* Where there is no memory for a larger table, contexts are made all the same,
 * none is taken in pieces, and it is asked for again only now and then. */
static void test_no_memory_for_a_table(void **unused)
{
	struct context_table *first;
	uint32_t i;

	(void)unused;
	start();
	first = context_newest();
	alloc_before = unwind_alloc;
	unwind_alloc = alloc_nothing;
	for (i = 0; i < 3000; i++)
		assert_true(child(0, 0x400000 + i) >= GT_STOP_COUNT);
	unwind_alloc = alloc_before;
	assert_ptr_equal(context_newest(), first);
	assert_in_range(allocs, 2, 3000 / 256 + 1);
	for (i = 0; i < 600; i++)
		child(0, 0x500000 + i);
	assert_ptr_not_equal(context_newest(), first);
	i = child(0, 0x600000);
	assert_int_equal(child(0, 0x600000), i);
}

/* A child that was forked while a table was put in place may have it empty. */
static void test_table_that_is_empty_in_a_child(void **unused)
{
	struct context_table *t;
	uint32_t i, id;

	(void)unused;
	start();
	for (i = 0; i < 500; i++)
		child(0, 0x400000 + i);
	t = context_newest();
	for (i = 0; i <= t->mask; i++)
		memset((void *)&t->bucket[i], 0, sizeof(t->bucket[i]));
	for (i = 0; i < 500; i++) {
		id = child(0, 0x400000 + i);
		assert_int_equal(context_node(id)->address, 0x400000 + i);
		assert_int_equal(child(0, 0x400000 + i), id);
	}
}

/* ---- whole stacks ---- */

#define STACK_MAX 40u
#define STACKS 3000u

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
	drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((drawn >> 33) % below);
}

/* The outer part of the stack before stays; few addresses, so that innermost
 * ones and pieces repeat. */
static uint32_t draw_stack(uintptr_t *stack, uint32_t n)
{
	uint32_t changed = 1 + draw(n), i, next = n + draw(5);

	next = next > changed + 2 ? next - 2 : next;
	if (next > STACK_MAX || next < changed || next - changed > n)
		next = changed;
	memmove(stack + changed, stack + n - (next - changed),
		(next - changed) * sizeof(*stack));
	for (i = 0; i < changed; i++)
		stack[i] = 0x400000 + draw(50);
	return next;
}

static void test_hash_from_either_end(void **unused)
{
	uintptr_t stack[STACK_MAX];
	uint32_t i, stop;

	(void)unused;
	for (i = 0; i < STACK_MAX; i++)
		stack[i] = (uintptr_t)draw(UINT32_MAX) << 15;
	for (stop = 0; stop < GT_STOP_COUNT; stop++) {
		struct context_sum sum = context_sum_start();
		uint64_t hash = context_hash_root(stop);

		assert_true(context_sum_end(&sum, stop) == hash);
		for (i = 0; i < STACK_MAX; i++)
			context_sum_add(&sum, stack[i]);
		for (i = STACK_MAX; i-- > 0;)
			hash = context_hash(hash, stack[i]);
		assert_true(context_sum_end(&sum, stop) == hash);
	}
}

static uint64_t hash_of(const uintptr_t *stack, uint32_t n, uint32_t stop)
{
	struct context_sum sum = context_sum_start();
	uint32_t i;

	for (i = 0; i < n; i++)
		context_sum_add(&sum, stack[i]);
	return context_sum_end(&sum, stop);
}

/* By the hash of all, or one after the other: the same nodes, whoever made
 * them, and in a tree that has grown and lies in pieces. */
static void whole_stacks(void)
{
	static uintptr_t stack[STACKS][STACK_MAX];
	static uint32_t length[STACKS], id[STACKS];
	uint32_t i, k, count, n = 3;
	uintptr_t now[2 * STACK_MAX] = { 0x400000, 0x400001, 0x400002 };

	for (i = 0; i < STACKS; i++) {
		n = draw_stack(now, n);
		memcpy(stack[i], now, n * sizeof(*now));
		length[i] = n;
		id[i] = i % 2 ? context_of(now, n, i % 3) :
				context_of_walk(now, n, i % 3,
						hash_of(now, n, i % 3));
	}
	count = context_count();
	for (i = 0; i < STACKS; i++) {
		uint32_t context = id[i];

		n = length[i];
		assert_int_equal(context_of(stack[i], n, i % 3), id[i]);
		assert_int_equal(context_of_walk(stack[i], n, i % 3,
						 hash_of(stack[i], n, i % 3)),
				 id[i]);
		for (k = 0; k < n; k++) {
			assert_int_equal(context_node(context)->address,
					 stack[i][k]);
			context = context_node(context)->parent;
		}
		assert_int_equal(context, i % 3);
	}
	assert_int_equal(context_count(), count);
}

static void test_whole_stacks(void **unused)
{
	(void)unused;
	start();
	whole_stacks();
}

/* Code further out has gone, and other code came there: another stack. */
static void test_whole_stack_over_forgotten(void **unused)
{
	const uintptr_t stack[4] = { 0x7001, 0x7002, 0x5003, 0x7004 };
	uint64_t hash = hash_of(stack, 4, 0);
	uint32_t id, again;

	(void)unused;
	start();
	id = context_of_walk(stack, 4, 0, hash);
	assert_int_equal(context_of_walk(stack, 4, 0, hash), id);
	context_forget(0x5000, 0x6000, 0);
	again = context_of_walk(stack, 4, 0, hash);
	assert_int_not_equal(again, id);
	assert_int_equal(context_of_walk(stack, 4, 0, hash), again);
	assert_int_equal(context_of(stack, 4, 0), again);
}

/* The nodes lie where other processes write, too: a parent may be anything. Then
 * another node is made. */
static void test_whole_stack_over_scribbled_node(void **unused)
{
	static const uint32_t scribbled[] = { 0xfffff000, UINT32_MAX, 100000 };
	const uintptr_t stack[4] = { 0x7001, 0x7002, 0x7003, 0x7004 };
	uint64_t hash = hash_of(stack, 4, 0);
	uint32_t id, i, k;

	(void)unused;
	start();
	id = context_of_walk(stack, 4, 0, hash);
	for (i = 0; i < 3; i++) {
		uint32_t again, context;

		test_unwinder_nodes[id - 1].parent = scribbled[i];
		again = context = context_of_walk(stack, 4, 0, hash);
		assert_int_not_equal(again, id);
		for (k = 0; k < 4; k++) {
			assert_int_equal(context_node(context)->address,
					 stack[k]);
			context = context_node(context)->parent;
		}
		assert_int_equal(context, 0);
		assert_int_equal(context_of_walk(stack, 4, 0, hash), again);
		id = again;
	}
}

/* A hash that is another stack's: what is found is not believed. */
static void test_whole_stack_of_a_wrong_hash(void **unused)
{
	const uintptr_t one[3] = { 0x7001, 0x7002, 0x7003 };
	const uintptr_t other[3] = { 0x7001, 0x7002, 0x7004 };
	uint64_t hash = hash_of(one, 3, 0);
	uint32_t id;

	(void)unused;
	start();
	id = context_of_walk(one, 3, 0, hash);
	assert_int_not_equal(context_of_walk(other, 3, 0, hash), id);
	assert_int_not_equal(context_of_walk(one, 3, 1, hash), id);
	assert_int_not_equal(context_of_walk(one, 2, 0, hash), id);
	assert_int_equal(context_of_walk(one, 3, 0, hash), id);
}

/* ---- forgetting in the middle of what others do ---- */

#define FIRST_LIMIT 960u	/* entries of the first table; then it grows */
#define TABLE_BYTES (16 * 1024u * sizeof(uint64_t))	/* of the next */
#define PAGE 4096u
#define FORGOTTEN 0x5000u	/* up to 0x6000 */
#define KEPT 0x7000u

static uint32_t filled[FIRST_LIMIT];
static char *stop_page;
static uint32_t forgotten_below;

static void forget(void)
{
	context_forget(FORGOTTEN, FORGOTTEN + 0x1000, 0);
	forgotten_below = context_count();
}

/* As start(), without all that is not the tree's; may be done often. */
static void start_tree(void)
{
	struct capture_config config = { .nodes = test_unwinder_nodes,
					 .node_count =
						 &test_unwinder_node_count,
					 .node_limit =
						 &test_unwinder_node_limit,
					 .node_max = TEST_UNWINDER_NODES };

	memset(test_unwinder_nodes, 0,
	       context_count() * sizeof(*test_unwinder_nodes));
	test_unwinder_node_count = GT_STOP_COUNT;
	context_init(&config, no_step);
	forgotten_below = 0;
}

/* Every third is to be forgotten. */
static uintptr_t fill_address(uint32_t i)
{
	return (i % 3 ? KEPT : FORGOTTEN) + i;
}

static void fill(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		filled[i] = child(0, fill_address(i));
}

/* Whether each of them is found, or not, as it has to be. */
static bool filled_is_right(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if ((child(0, fill_address(i)) == filled[i]) !=
		    (i % 3 || filled[i] >= forgotten_below))
			return false;
	return true;
}

/* The next table cannot be written to in one page, until somebody tries. */
static void *alloc_with_a_stop(size_t size)
{
	char *p = test_unwinder_alloc(size);

	if (size < TABLE_BYTES)
		return p;
	stop_page += (uintptr_t)p;
	mprotect(stop_page, PAGE, PROT_NONE);
	return p;
}

static void on_stop(int number)
{
	(void)number;
	mprotect(stop_page, PAGE, PROT_READ | PROT_WRITE);
	unwind_alloc = test_unwinder_alloc;
	forget();
}

#define PIECE 64	/* nodes of the first */
#define PIECES 6

static struct gl_node *piece_nodes[PIECES];
static unsigned pieces_mapped;

static struct gl_node *map_piece(unsigned piece)
{
	if (piece == PIECES - 1)
		return NULL;	/* there is no memory */
	if (!piece_nodes[piece]) {
		piece_nodes[piece] = test_unwinder_alloc(
			(PIECE << (piece - 1)) * sizeof(struct gl_node));
		pieces_mapped++;
	}
	return piece_nodes[piece];
}

/* One stack through all pieces: KEPT + id of each node from `last` outward. */
static void whole_in_pieces(uint32_t last)
{
	struct context_trail trail = context_trail_at(last);
	uint32_t i;

	for (i = last; i >= GT_STOP_COUNT; i--) {
		assert_int_equal(trail.id, i);
		assert_false(context_trail_step(&trail, KEPT + i + 1));
		assert_true(context_trail_step(&trail, KEPT + i));
	}
	assert_int_equal(trail.id, 0);
}

static void test_nodes_in_pieces(void **unused)
{
	struct capture_config config = {
		.nodes_first = PIECE,
		.map_nodes = map_piece,
		.node_max = TEST_UNWINDER_NODES,
		.node_count = &test_unwinder_node_count,
		.node_limit = &test_unwinder_node_limit,
	};
	uint32_t last = PIECE << (PIECES - 2), id = 0, i;

	(void)unused;
	start();
	config.nodes = test_unwinder_alloc(PIECE * sizeof(struct gl_node));
	test_unwinder_node_count = GT_STOP_COUNT;
	test_unwinder_node_limit = TEST_UNWINDER_NODES;
	assert_int_equal(context_init(&config, no_step), 0);
	for (i = GT_STOP_COUNT; i < last; i++) {
		uint32_t next = child(id, KEPT + i);

		assert_int_equal(next, i);
		assert_int_equal(context_node(next)->parent, id);
		assert_int_equal(context_node(next)->address, KEPT + i);
		id = next;
		/* only what is needed */
		assert_int_equal(pieces_mapped,
				 i < PIECE ? 0 :
				 32 - __builtin_clz(i / PIECE));
	}
	assert_int_equal(child(id, KEPT), GT_STOP_NO_MEMORY);
	assert_int_equal(context_count(), last);
	for (i = GT_STOP_COUNT, id = 0; i < last; i++) {
		assert_int_equal(child(id, KEPT + i), i);
		id = i;
	}
	context_forget(KEPT + last - 1, KEPT + last, 0);
	whole_in_pieces(last - 2);
	assert_true(context_node(last - 1)->flags & GL_NODE_DEAD);
	assert_int_equal(child(last - 2, KEPT + last - 1), GT_STOP_NO_MEMORY);
}

/* A table is being copied, has got so far, and another thread forgets. */
static void test_forget_while_a_table_is_copied(void **unused)
{
	struct sigaction action = { .sa_handler = on_stop,
				    .sa_flags = SA_NODEFER }, old;
	uintptr_t page;

	(void)unused;
	start();
	sigaction(SIGSEGV, &action, &old);
	for (page = 0; page < TABLE_BYTES; page += PAGE) {
		start_tree();
		fill(FIRST_LIMIT);
		stop_page = (char *)page;
		unwind_alloc = alloc_with_a_stop;
		child(0, KEPT - 1);
		assert_int_not_equal(forgotten_below, 0);
		assert_true(filled_is_right(FIRST_LIMIT));
	}
	sigaction(SIGSEGV, &old, NULL);
}

static void step_through(const struct stepped *each)
{
	unsigned at;

	start();
	if (!stepped_each(each, &at))
		fail_msg("instruction %u", at);
	print_message("%u instructions\n", at);
}

static void add(void)
{
	filled[0] = child(0, fill_address(0));
}

static bool added_right(void)
{
	return filled_is_right(1);
}

static void test_forget_while_a_node_is_made(void **unused)
{
	const struct stepped each = { start_tree, add, forget, added_right,
				      1 };

	(void)unused;
	step_through(&each);
}

/* The node is in an older table, and enters the newest. */
static void start_older(void)
{
	struct context_table *newer = test_unwinder_alloc(sizeof(*newer));
	const struct context_table *first;

	start_tree();
	fill(1);
	first = context_newest();
	memcpy(newer, first, sizeof(*newer));
	newer->bucket = test_unwinder_alloc(TABLE_BYTES);
	newer->used = 0;
	newer->older = context_newest();
	atomic_store(&context_tables, newer);
}

static void test_forget_while_a_node_enters_the_newest(void **unused)
{
	const struct stepped each = { start_older, add, forget, added_right,
				      1 };

	(void)unused;
	step_through(&each);
}

/* The one that is forgotten. */
#define LAST (FIRST_LIMIT - 1)

/* In the other direction: what goes on while somebody forgets. */
static void start_full(void)
{
	start_tree();
	fill(FIRST_LIMIT);
}

static void forget_last(void)
{
	context_forget(fill_address(LAST), fill_address(LAST) + 1,
		       filled[LAST]);
}

static void add_and_grow(void)
{
	child(0, KEPT - 1);
	child(0, fill_address(LAST));
}

static bool last_is_forgotten(void)
{
	uint32_t i;

	for (i = 0; i < FIRST_LIMIT; i++)
		if ((child(0, fill_address(i)) == filled[i]) != (i < LAST))
			return false;
	return true;
}

static void test_growth_while_forgetting(void **unused)
{
	const struct stepped each = { start_full, forget_last, add_and_grow,
				      last_is_forgotten, 1 };

	(void)unused;
	step_through(&each);
}

static void test_limit(void **unused)
{
	uint32_t i, id = 0;

	(void)unused;
	start();
	test_unwinder_node_limit = 100;
	for (i = 0; i < 200; i++)
		id = child(0, 0x5000 + i);
	assert_int_equal(id, GT_STOP_NO_MEMORY);
	assert_int_equal(context_count(), 100);
	assert_int_equal(child(0, 0x5000), GT_STOP_COUNT);
}

static void test_broken_tree(void **unused)
{
	struct context_table *table;
	_Atomic uint64_t *entry;
	uint32_t id;

	(void)unused;
	start_tree();
	id = context_child(0, 0x401000, context_hash(context_hash_root(0),
						     0x401000), false);
	table = context_newest();
	assert_true(context_is_valid());
	assert_true(context_entries_are_valid());
	test_unwinder_nodes[id].parent = id;		/* I2 */
	assert_false(context_entries_are_valid());
	test_unwinder_nodes[id].parent = 0;
	for (entry = table->bucket->entry; !*entry;)
		entry++;
	*entry += 1;
	assert_false(context_entries_are_valid());
	*entry -= 1;
	assert_true(context_entries_are_valid());
	table->older = table;
	assert_false(context_is_valid());
	table->older = NULL;
	table->limit++;
	assert_false(context_is_valid());
	table->limit--;
	test_unwinder_node_count = TEST_UNWINDER_NODES + 1;
	assert_false(context_is_valid());
	test_unwinder_node_count = id + 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_key_same_id),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_forgotten_again_and_again),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_copied_table_is_given_back),
		cmocka_unit_test(test_no_memory_for_a_table),
		cmocka_unit_test(test_table_that_is_empty_in_a_child),
		cmocka_unit_test(test_hash_from_either_end),
		cmocka_unit_test(test_whole_stacks),
		cmocka_unit_test(test_whole_stack_over_forgotten),
		cmocka_unit_test(test_whole_stack_over_scribbled_node),
		cmocka_unit_test(test_whole_stack_of_a_wrong_hash),
		cmocka_unit_test(test_nodes_in_pieces),
		cmocka_unit_test(test_forget_while_a_table_is_copied),
		cmocka_unit_test(test_forget_while_a_node_is_made),
		cmocka_unit_test(test_forget_while_a_node_enters_the_newest),
		cmocka_unit_test(test_growth_while_forgetting),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_broken_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
