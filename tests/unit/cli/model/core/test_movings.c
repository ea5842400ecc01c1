/*
 * test_movings.c: lanes by the address of the block that they move, against
 * an array; and how many lanes a search looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/movings.h"

#define LANES 500
#define MANY 100000

static uint32_t naive(const uint64_t *addresses, uint64_t address)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		if (addresses[lane] == address)
			return lane;
	return MOVINGS_NONE;
}

static void like_an_array(void **state)
{
	uint64_t addresses[LANES] = { 0 };	/* 0: none */
	struct movings movings = { 0 };

	(void)state;
	srand(5);
	assert_int_equal(movings_find(&movings, 16), MOVINGS_NONE);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t lane = (uint32_t)rand() % LANES;
		uint64_t address = 16 * (1 + (uint64_t)rand() % 1000);

		/* few lanes at first: it grows with lanes in it */
		lane %= 1 + i / 20;
		assert_int_equal(movings_find(&movings, address),
				 naive(addresses, address));
		if (addresses[lane] != 0) {
			movings_remove(&movings, lane);
			addresses[lane] = 0;
		} else if (naive(addresses, address) == MOVINGS_NONE) {
			assert_true(movings_reach(&movings, lane));
			movings_add(&movings, lane, address);
			addresses[lane] = address;
		}
	}
	movings_free(&movings);
}

static void many_lanes_are_no_walk(void **state)
{
	struct movings movings = { 0 };
	unsigned longest = 0;

	(void)state;
	assert_true(movings_reach(&movings, MANY - 1));
	for (uint32_t lane = 0; lane < MANY; lane++)
		movings_add(&movings, lane, 0x7f0000000010 + lane * 48ull);
	for (uint32_t i = 0; i < 1u << movings.bits; i++) {
		unsigned length = 0;

		for (uint32_t at = movings.buckets[i]; at != 0;
		     at = movings.lanes[at - 1].next)
			length++;
		if (length > longest)
			longest = length;
	}
	/* by chance eight or ten; where all lie in one, thousands */
	assert_in_range(longest, 1, 24);
	for (uint32_t lane = 0; lane < MANY; lane++)
		assert_int_equal(movings_find(&movings, 0x7f0000000010 +
					      lane * 48ull), lane);
	movings_free(&movings);
}

static void broken_ones(void **state)
{
	struct movings movings = { 0 };
	uint32_t kept;

	(void)state;
	assert_true(movings_is_valid(&movings));
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(movings_reach(&movings, i));
		movings_add(&movings, i, 0x1000 * (uint64_t)(i + 1));
	}
	assert_true(movings_is_valid(&movings));
	/* in a bucket that is not its address's */
	movings.lanes[3].address ^= 0x123450;
	assert_false(movings_is_valid(&movings));
	movings.lanes[3].address ^= 0x123450;
	/* a list that does not end */
	kept = movings.lanes[5].next;
	movings.lanes[5].next = 6;
	assert_false(movings_is_valid(&movings));
	movings.lanes[5].next = 1000;
	assert_false(movings_is_valid(&movings));
	movings.lanes[5].next = kept;
	assert_true(movings_is_valid(&movings));
	movings_free(&movings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array),
		cmocka_unit_test(many_lanes_are_no_walk),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests_name("movings", tests, NULL, NULL);
}
