/*
 * test_api_pool.c: the table of pools and their blocks, that a broken one is
 * seen, and which blocks are trimmed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

/* Its table is not for others. */
#include "preload/api/api_pool.c"

#define BLOCKS 100

/* Nothing is recorded here. */
void hooks_block_slow(unsigned kind, uint64_t word1, uint64_t size,
		      struct hooks_caller caller)
{
	(void)kind;
	(void)word1;
	(void)size;
	(void)caller;
}

void hooks_address_slow(unsigned kind, uintptr_t block, uintptr_t ra,
			uintptr_t sp)
{
	(void)kind;
	(void)block;
	(void)ra;
	(void)sp;
}

void hooks_end_stacked(unsigned kind, uintptr_t block, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp)
{
	(void)fp;
	hooks_address_slow(kind, block, ra, sp);
}

static struct pools_shard shard;

static void *place(uintptr_t at)
{
	return (void *)at;
}

/* A shard whose nodes are free, as pools_grow makes it. */
static int set_up(void **state)
{
	uint32_t i;

	(void)state;
	shard = (struct pools_shard){
		.buckets = calloc(POOLS_BUCKETS, sizeof(uint32_t)),
		.slab = calloc(POOLS_SLABS, sizeof(*shard.slab)),
		.slabs = 1,
	};
	shard.slab[0] = calloc(POOLS_SLAB, sizeof(**shard.slab));
	for (i = 0; i < POOLS_SLAB; i++) {
		shard.slab[0][i].chain = shard.free;
		shard.free = i + 1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(shard.slab[0]);
	free(shard.slab);
	free(shard.buckets);
	return 0;
}

static uint32_t fill(void)
{
	uint32_t owner = pools_add(&shard, 0, place(16), NULL, 1), i;

	for (i = 1; i <= BLOCKS; i++)
		assert_int_not_equal(pools_add(&shard, owner, place(16),
					       place(64 * i), i), 0);
	return owner;
}

static void blocks_are_found_until_forgotten(void **state)
{
	uint32_t owner = fill(), i;

	(void)state;
	assert_true(pools_shard_is_valid(&shard));
	assert_int_equal(pools_find(&shard, place(16), NULL), owner);
	for (i = 1; i <= BLOCKS; i += 2)
		assert_true(pools_forget(&shard, place(16), place(64 * i)));
	assert_false(pools_forget(&shard, place(16), place(64)));
	assert_false(pools_forget(&shard, place(32), place(128)));
	for (i = 1; i <= BLOCKS; i++)
		assert_int_equal(!pools_find(&shard, place(16), place(64 * i)),
				 i % 2);
	assert_true(pools_shard_is_valid(&shard));
}

static void damaged_shard_is_invalid(void **state)
{
	uint32_t at, kept;
	struct pools_node *node;

	(void)state;
	fill();
	at = pools_find(&shard, place(16), place(640));
	node = pools_node(&shard, at - 1);
	/* a ring that leads elsewhere, */
	kept = node->next;
	node->next = at - 1;
	assert_false(pools_shard_is_valid(&shard));
	node->next = POOLS_SLAB;
	assert_false(pools_shard_is_valid(&shard));
	node->next = kept;
	/* a node of another pool, */
	node->pool = 32;
	assert_false(pools_shard_is_valid(&shard));
	node->pool = 16;
	/* a bucket that does not end, */
	kept = node->chain;
	node->chain = at;
	assert_false(pools_shard_is_valid(&shard));
	node->chain = kept;
	assert_true(pools_shard_is_valid(&shard));
	/* a node that is nowhere */
	kept = shard.free;
	shard.free = pools_node(&shard, kept - 1)->chain;
	assert_false(pools_shard_is_valid(&shard));
	shard.free = POOLS_SLAB + 1;
	assert_false(pools_shard_is_valid(&shard));
	shard.free = kept;
	assert_true(pools_shard_is_valid(&shard));
}

/* Whether a trim to `size` bytes from `start` keeps a block. */
static bool keeps(uint64_t start, uint64_t size, uint64_t block, uint64_t bytes)
{
	struct pools_range kept = { start, size };
	struct hooks_caller nobody = { 0 };
	struct pools_at at = { .shard = &shard };
	bool found;

	/* a pool without a heap records nothing */
	at.pool = pools_add(&shard, 0, place(16), NULL, 0);
	assert_int_not_equal(at.pool, 0);
	assert_int_not_equal(pools_add(&shard, at.pool, place(16), place(block),
				       bytes), 0);
	pools_drain(&at, &kept, nobody);
	found = pools_forget(&shard, place(16), place(block));
	pools_remove(&shard, at.pool);
	return found;
}

static void trim_keeps_what_is_completely_inside(void **state)
{
	(void)state;
	assert_true(keeps(100, 50, 100, 50));
	assert_true(keeps(100, 50, 149, 1));
	assert_false(keeps(100, 50, 99, 2));
	assert_false(keeps(100, 50, 149, 2));
	assert_false(keeps(100, 50, 90, 80));
	assert_false(keeps(100, 50, 150, 1));
	assert_false(keeps(100, 50, 10, 1));
	/* sums that would wrap */
	assert_true(keeps(100, SIZE_MAX, 149, 2));
	assert_false(keeps(100, SIZE_MAX, 99, 1));
	assert_false(keeps(100, 50, 120, SIZE_MAX));
	assert_true(keeps(SIZE_MAX, 1, SIZE_MAX, 1));
	/* no bytes */
	assert_true(keeps(100, 50, 100, 0));
	assert_true(keeps(100, 50, 149, 0));
	assert_false(keeps(100, 50, 150, 0));
	assert_false(keeps(100, 0, 100, 0));
	assert_false(keeps(100, 0, 100, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			trim_keeps_what_is_completely_inside, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			blocks_are_found_until_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_shard_is_invalid,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
