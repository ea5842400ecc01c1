/*
 * test_pairing.c: events that wait: the oldest of an address first, each until its window is over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/pairing.h"
#include "preload/format.h"

static struct pairing pairing;

static void wait_for(uint64_t address, unsigned kind, uint64_t stamp,
		     uint32_t lane)
{
	const struct trace_event event = {
		.address = address, .kind = (uint8_t)kind, .stamp = stamp,
	};

	pairing_wait(&pairing, &event, lane, lane * 10);
}

static void take(int index, uint32_t lane)
{
	struct pairing_entry entry;

	assert_true(index >= 0);
	pairing_take(&pairing, (size_t)index, &entry);
	assert_int_equal(entry.lane, lane);
	assert_int_equal(entry.chain, lane * 10);
}

static void oldest_of_its_kind_first(void **state)
{
	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	pairing.window = 100;
	wait_for(0x40, GT_FREE, 1000, 1);
	wait_for(0x50, GT_ALLOC, 1010, 2);
	wait_for(0x40, GT_ALLOC, 1020, 3);
	wait_for(0x40, GT_FREE, 1030, 4);
	assert_int_equal(pairing.expires, 1100);
	assert_int_equal(pairing_find(&pairing, 0x60, 1u << GT_FREE), -1);
	assert_int_equal(pairing_find(&pairing, 0x50, 1u << GT_FREE), -1);
	take(pairing_find(&pairing, 0x40, 1u << GT_ALLOC), 3);
	assert_int_equal(pairing.expires, 1100);
	take(pairing_find(&pairing, 0x40, 1u << GT_FREE | 1u << GT_ALLOC), 1);
	assert_int_equal(pairing.expires, 1110);
	take(pairing_find(&pairing, 0x40, 1u << GT_FREE), 4);
	take(pairing_find(&pairing, 0x50, 1u << GT_ALLOC), 2);
	assert_int_equal(pairing.count, 0);
	assert_true(pairing.expires == UINT64_MAX);
	/* or each search would walk what was there once */
	for (size_t i = 0; i < PAIRING_MAX; i++)
		assert_int_equal(pairing.present[i], 0);
}

/* Through the array's end again and again, as full as it gets. */
static void many_in_turn(void **state)
{
	uint32_t next = 0;

	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	pairing.window = 5;
	for (uint32_t i = 0; i < 10 * PAIRING_MAX; i++) {
		wait_for(16 * (uint64_t)i, GT_FREE, i, i);
		if (pairing.count < PAIRING_MAX)
			continue;
		assert_int_equal(pairing.expires, next + 5);
		assert_int_equal(pairing_find(&pairing, 16 * (uint64_t)i,
					      1u << GT_FREE), PAIRING_MAX - 1);
		take(pairing_find(&pairing, 16 * (uint64_t)next,
				  1u << GT_FREE), next);
		next++;
	}
	assert_int_equal(pairing.count, PAIRING_MAX - 1);
}

/* As where a window ends over several of them, and some are left: the oldest's
 * place passes by any boundary, and never comes to stand upon it. */
static void several_at_once(void **state)
{
	uint32_t in = 0, out = 0;

	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	pairing.window = 100;
	wait_for(0x10, GT_FREE, 0, in++);
	for (unsigned round = 0; round < PAIRING_MAX; round++) {
		for (unsigned i = 0; i < 7; i++, in++)
			wait_for(in * 16 + 16, GT_FREE, round * 10, in);
		for (unsigned i = 0; i < 7; i++)
			take(0, out++);
		assert_int_equal(pairing.count, 1);
		assert_true(pairing.first + 1 <= sizeof(pairing.entries) /
			    sizeof(pairing.entries[0]));
	}
	take(pairing_find(&pairing, in * 16, 1u << GT_FREE), out);
}

static void the_end_of_time(void **state)
{
	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	pairing.window = 100;
	wait_for(0x40, GT_FREE, UINT64_MAX - 10, 1);
	assert_true(pairing.expires == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_of_its_kind_first),
		cmocka_unit_test(many_in_turn),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(the_end_of_time),
	};

	return cmocka_run_group_tests_name("pairing", tests, NULL, NULL);
}
