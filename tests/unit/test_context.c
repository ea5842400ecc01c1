/* test_context.c: the tree's index: growth, threads, forgetting, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/unit/unwind_embed.h"
#include "unwind/context.h"

#define MANY 300000u

/* The hash of a made-up stack: any function of (parent, address) will do. */
static uint32_t child(uint32_t parent, uintptr_t address)
{
	return context_child(parent, address,
			     context_hash(context_hash(0, parent), address));
}

static void start(void)
{
	assert_int_equal(embed_init(CAPTURE_AUTO, false), 0);
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

static void test_limit(void **unused)
{
	uint32_t i, id = 0;

	(void)unused;
	start();
	embed_node_limit = 100;
	for (i = 0; i < 200; i++)
		id = child(0, 0x5000 + i);
	assert_int_equal(id, GT_STOP_NO_MEMORY);
	assert_int_equal(context_count(), 100);
	assert_int_equal(child(0, 0x5000), GT_STOP_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_key_same_id),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
