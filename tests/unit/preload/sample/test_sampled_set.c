/*
 * test_sampled_set.c: the set is exact: alone against a plain list, and with
 * threads that hand blocks to each other; and what it says when it has no
 * memory for more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/ring/area.h"
#include "preload/ring/producer.h"
#include "preload/sample/sampled_set.h"

#define BLOCKS 60000		/* more than two tables hold */
#define STEPS 400000
#define THREADS 4
#define HANDED 60000		/* by each thread */

static struct sampled_set blocks, *set;

static int each(void **state)
{
	(void)state;
	memset(&blocks, 0, sizeof(blocks));
	area_set_budget(UINT64_C(64) << 20);
	set = &blocks;
	return 0;
}

static uint64_t address_of(uint64_t block)
{
	return UINT64_C(0x7f1234560000) + block * 48;
}

static void empty_set_has_no_block(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(sampled_set_empty(set, address_of(i)));
		assert_true(sampled_set_never(set, address_of(i)));
		assert_false(sampled_set_remove(set, address_of(i)));
	}
}

static void set_agrees_with_a_plain_list(void **state)
{
	static bool is[BLOCKS];
	uint64_t random = 1, block;

	(void)state;
	memset(is, 0, sizeof(is));
	for (unsigned i = 0; i < STEPS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		block = (random >> 33) % BLOCKS;
		assert_int_equal(sampled_set_never(set, address_of(block)),
				 !is[block]);
		if (is[block])
			assert_true(sampled_set_remove(set, address_of(block)));
		else
			sampled_set_add(set, address_of(block));
		is[block] = !is[block];
	}
	/* it did go on into other tables */
	assert_non_null(set->next[1]);
	assert_int_equal(set->perhaps, 0);
	for (block = 0; block < BLOCKS; block++)
		assert_int_equal(sampled_set_remove(set, address_of(block)),
				 is[block]);
	for (unsigned i = 0; i < 1 << SAMPLED_SET_FIRST_BITS; i++)
		assert_int_equal(set->first[i].state & (SAMPLED_SET_MORE - 1),
				 0);
}

static void adding_twice_is_adding_once(void **state)
{
	(void)state;
	sampled_set_add(set, address_of(1));
	sampled_set_add(set, address_of(1));
	assert_true(sampled_set_remove(set, address_of(1)));
	assert_true(sampled_set_never(set, address_of(1)));
}

/* Blocks that wait for the next thread to end them; 0: none. */
static _Atomic uint64_t box[THREADS][256];
static _Atomic unsigned wrong;

static void end_those_of(unsigned of)
{
	for (unsigned i = 0; i < 256; i++) {
		uint64_t address = atomic_exchange(&box[of][i], 0);

		if (!address)
			continue;
		if (sampled_set_never(set, address))
			wrong++;
		if (!sampled_set_remove(set, address))
			wrong++;
		if (!sampled_set_never(set, address))
			wrong++;
	}
}

static void *hands_on(void *argument)
{
	unsigned own = (unsigned)(uintptr_t)argument;
	uint64_t address, none;

	for (unsigned i = 0; i < HANDED; i++) {
		address = address_of((uint64_t)i * THREADS + own);
		/* its neighbour is none */
		if (!sampled_set_never(set, address + 8))
			wrong++;
		sampled_set_add(set, address);
		none = 0;
		while (!atomic_compare_exchange_strong(&box[own][i % 256],
						       &none, address)) {
			none = 0;
			end_those_of((own + THREADS - 1) % THREADS);
			/* the last one may have ended */
			end_those_of(own);
		}
	}
	return NULL;
}

static void blocks_are_freed_by_other_threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hands_on,
						(void *)(uintptr_t)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < THREADS; i++)
		end_those_of(i);
	assert_int_equal(wrong, 0);
	for (unsigned i = 0; i < 1 << SAMPLED_SET_FIRST_BITS; i++)
		assert_int_equal(set->first[i].state & (SAMPLED_SET_MORE - 1),
				 0);
}

static void without_memory_any_block_may_be_in_it(void **state)
{
	uint64_t block;

	(void)state;
	area_set_budget(0);	/* not a byte more */
	for (block = 0; !set->perhaps && block < BLOCKS; block++)
		sampled_set_add(set, address_of(block));
	assert_in_range(block, SAMPLED_SLOTS,
			SAMPLED_SLOTS << SAMPLED_SET_FIRST_BITS);
	assert_false(sampled_set_never(set, address_of(BLOCKS)));
	assert_true(sampled_set_remove(set, address_of(BLOCKS)));
}

static void damaged_set_is_invalid(void **state)
{
	struct sampled_line *line;

	(void)state;
	sampled_set_add(set, address_of(1));
	assert_true(sampled_set_is_valid(set));
	line = (struct sampled_line *)sampled_set_first(set, address_of(1));
	line->state++;				/* I1 */
	assert_false(sampled_set_is_valid(set));
	line->state--;
	set->sieve[sampled_set_sieve(address_of(1))] = 0;	/* I3 */
	assert_false(sampled_set_is_valid(set));
	set->sieve[sampled_set_sieve(address_of(1))] = 1;
	assert_true(sampled_set_is_valid(set));
	line->state = 0;			/* I2 */
	assert_false(sampled_set_is_valid(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(empty_set_has_no_block, each),
		cmocka_unit_test_setup(set_agrees_with_a_plain_list, each),
		cmocka_unit_test_setup(adding_twice_is_adding_once, each),
		cmocka_unit_test_setup(blocks_are_freed_by_other_threads, each),
		cmocka_unit_test_setup(without_memory_any_block_may_be_in_it,
				       each),
		cmocka_unit_test_setup(damaged_set_is_invalid, each),
	};

	if (area_map(UINT64_C(64) << 20))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
