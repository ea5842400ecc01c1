/*
 * test_pending_reallocs.c: lanes by the address of the block that they move,
 * against an array; and how many lanes a search looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/pending_reallocs.h"

#define LANES 500
#define MANY 100000

static uint32_t naive(const uint64_t *addresses, uint64_t address)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		if (addresses[lane] == address)
			return lane;
	return PENDING_REALLOCS_NONE;
}

static void like_an_array(void **state)
{
	uint64_t addresses[LANES] = { 0 };	/* 0: none */
	struct pending_reallocs pending_reallocs = { 0 };

	(void)state;
	srand(5);
	assert_int_equal(pending_reallocs_find(&pending_reallocs, 16),
			 PENDING_REALLOCS_NONE);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t lane = (uint32_t)rand() % LANES;
		uint64_t address = 16 * (1 + (uint64_t)rand() % 1000);

		/* few lanes at first: it grows with lanes in it */
		lane %= 1 + i / 20;
		assert_int_equal(
			pending_reallocs_find(&pending_reallocs, address),
			naive(addresses, address));
		if (addresses[lane] != 0) {
			pending_reallocs_remove(&pending_reallocs, lane);
			addresses[lane] = 0;
		} else if (naive(addresses, address) == PENDING_REALLOCS_NONE) {
			assert_true(pending_reallocs_reach(&pending_reallocs,
							   lane));
			pending_reallocs_add(&pending_reallocs, lane, address);
			addresses[lane] = address;
		}
	}
	pending_reallocs_free(&pending_reallocs);
}

static void many_lanes_are_no_walk(void **state)
{
	struct pending_reallocs pending_reallocs = { 0 };
	unsigned longest = 0;

	(void)state;
	assert_true(pending_reallocs_reach(&pending_reallocs, MANY - 1));
	for (uint32_t lane = 0; lane < MANY; lane++)
		pending_reallocs_add(&pending_reallocs, lane,
				     0x7f0000000010 + lane * 48ull);
	for (uint32_t i = 0; i < 1u << pending_reallocs.bits; i++) {
		unsigned length = 0;

		for (uint32_t at = pending_reallocs.buckets[i]; at != 0;
		     at = pending_reallocs.lanes[at - 1].next)
			length++;
		if (length > longest)
			longest = length;
	}
	/* by chance eight or ten; where all lie in one, thousands */
	assert_in_range(longest, 1, 24);
	for (uint32_t lane = 0; lane < MANY; lane++)
		assert_int_equal(
			pending_reallocs_find(&pending_reallocs,
					      0x7f0000000010 + lane * 48ull),
			lane);
	pending_reallocs_free(&pending_reallocs);
}

static void broken_ones(void **state)
{
	struct pending_reallocs pending_reallocs = { 0 };
	unsigned found = 0;
	uint32_t kept;

	(void)state;
	assert_true(pending_reallocs_is_valid(&pending_reallocs));
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(pending_reallocs_reach(&pending_reallocs, i));
		pending_reallocs_add(&pending_reallocs, i,
				     0x1000 * (uint64_t)(i + 1));
	}
	assert_true(pending_reallocs_is_valid(&pending_reallocs));
	/* in a bucket that is not its address's: by the random key of the hash,
	 * one of 64 addresses belongs into the same bucket */
	for (uint64_t i = 1; i <= 20; i++) {
		pending_reallocs.lanes[3].address ^= i << 20;
		found += !pending_reallocs_is_valid(&pending_reallocs);
		pending_reallocs.lanes[3].address ^= i << 20;
	}
	assert_in_range(found, 10, 20);
	/* a list that does not end */
	kept = pending_reallocs.lanes[5].next;
	pending_reallocs.lanes[5].next = 6;
	assert_false(pending_reallocs_is_valid(&pending_reallocs));
	pending_reallocs.lanes[5].next = 1000;
	assert_false(pending_reallocs_is_valid(&pending_reallocs));
	pending_reallocs.lanes[5].next = kept;
	assert_true(pending_reallocs_is_valid(&pending_reallocs));
	pending_reallocs_free(&pending_reallocs);
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
