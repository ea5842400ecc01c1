/*
 * test_contexts.c: the tree of a trace: nodes that are equal are one, after
 * the index was given back, too; a second pass knows the first one's nodes,
 * and has costs of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/contexts.h"

#define MANY 5000u
#define FIRST_ID 100u

static struct images images;
static struct contexts tree;

static void define(uint32_t id, uint32_t parent, uint64_t address)
{
	const struct trace_node node = { .id = id, .parent = parent,
					 .address = address };

	assert_int_equal(contexts_define(&tree, &images, &node),
			 CONTEXTS_DEFINED);
}

/* A file of all addresses; ids of a binary tree in it. */
static void plant(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		define(first + i, i == 0 ? GT_STOP_BOTTOM :
		       first + (i - 1) / 2, 0x1000 + i);
}

static int begin(void **state)
{
	struct trace_image image = { .path = "/a", .path_size = 2 };

	(void)state;
	image.segment_count = 1;
	image.segments[0].start = 0x1000;
	image.segments[0].size = 0x100000;
	memset(&images, 0, sizeof(images));
	assert_int_equal(images_add(&images, &image), IMAGES_ADDED);
	contexts_init(&tree);
	plant(FIRST_ID, MANY);
	return 0;
}

static int end(void **state)
{
	(void)state;
	contexts_free(&tree);
	images_free(&images);
	return 0;
}

static void equal_nodes_are_one(void **state)
{
	size_t nodes = tree.node_count;

	(void)state;
	assert_int_equal(nodes, CONTEXT_ROOTS + MANY);
	plant(FIRST_ID + MANY, MANY);
	assert_int_equal(tree.node_count, nodes);
	contexts_settle(&tree);
	plant(FIRST_ID + 2 * MANY, MANY);
	assert_int_equal(tree.node_count, nodes);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(contexts_node(&tree, FIRST_ID + i),
				 contexts_node(&tree, FIRST_ID + 2 * MANY + i));
}

static void a_second_pass_knows_them(void **state)
{
	const struct trace_node stranger = { .id = 1000000,
					     .parent = FIRST_ID,
					     .address = 0x7777 };
	const struct trace_node other = { .id = FIRST_ID + 1,
					  .parent = FIRST_ID,
					  .address = 0x7777 };
	struct contexts again;
	uint32_t cost;

	(void)state;
	contexts_cost(&tree, FIRST_ID);
	contexts_settle(&tree);
	contexts_init_known(&again, &tree);
	contexts_define(&again, &images, &stranger);
	contexts_define(&again, &images, &other);
	assert_int_equal(again.node_count, tree.node_count);
	assert_int_equal(contexts_node(&again, stranger.id),
			 CONTEXT_UNDEFINED);
	assert_int_equal(again.undefined, 1);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(contexts_node(&again, FIRST_ID + i),
				 contexts_node(&tree, FIRST_ID + i));
	cost = contexts_cost(&again, FIRST_ID + 7);
	assert_int_equal(cost, 0);
	assert_int_equal(again.costs[cost].node,
			 contexts_node(&tree, FIRST_ID + 7));
	assert_int_equal(contexts_cost(&again, FIRST_ID + 7), cost);
	assert_int_equal(contexts_cost(&again, GT_STOP_JIT), 1);
	assert_int_equal(again.costs[1].node, GT_STOP_JIT);
	contexts_cost(&again, stranger.id);
	assert_int_equal(again.costs[2].node, CONTEXT_UNDEFINED);
	assert_int_equal(tree.cost_count, 1);
	contexts_free(&again);
	/* The tree's own are where they were. */
	assert_int_equal(tree.nodes[contexts_node(&tree, FIRST_ID)].address,
			 0x1000);
}

static void a_broken_tree_is_seen(void **state)
{
	(void)state;
	assert_true(contexts_is_valid(&tree));
	tree.nodes[CONTEXT_ROOTS + 1].parent = CONTEXT_ROOTS + 1;	/* I1 */
	assert_false(contexts_is_valid(&tree));
	tree.nodes[CONTEXT_ROOTS + 1].parent = CONTEXT_ROOTS;
	assert_true(contexts_is_valid(&tree));
	tree.index[0] = tree.node_count;
	assert_false(contexts_is_valid(&tree));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_nodes_are_one, begin,
						end),
		cmocka_unit_test_setup_teardown(a_second_pass_knows_them,
						begin, end),
		cmocka_unit_test_setup_teardown(a_broken_tree_is_seen, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
