/*
 * test_pairing.c: events that wait: the oldest of an address first, each until its window is over.
 */
#include <setjmp.h>
#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/model/core/pairing.h"
#include "cli/trace/format/trace_format.h"

static struct pairing pairing;

static void wait_for(uint64_t address, unsigned kind, uint64_t stamp,
		     uint32_t lane)
{
	const struct trace_event event = {
		.address = address, .kind = (uint8_t)kind, .stamp = stamp,
	};

	pairing_wait(&pairing, &(struct pairing_entry){ event, lane, lane * 10,
							false });
}

static void take(unsigned index, uint32_t lane)
{
	struct pairing_entry entry;

	assert_int_not_equal(index, PAIRING_NONE);
	pairing_take(&pairing, index, &entry);
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
	assert_int_equal(pairing_find(&pairing, 0x60, 1u << GT_FREE),
			 PAIRING_NONE);
	assert_int_equal(pairing_find(&pairing, 0x50, 1u << GT_FREE),
			 PAIRING_NONE);
	take(pairing_find(&pairing, 0x40, 1u << GT_ALLOC), 3);
	assert_int_equal(pairing.expires, 1100);
	take(pairing_find(&pairing, 0x40, 1u << GT_FREE | 1u << GT_ALLOC), 1);
	assert_int_equal(pairing.expires, 1110);
	take(pairing_find(&pairing, 0x40, 1u << GT_FREE), 4);
	take(pairing_find(&pairing, 0x50, 1u << GT_ALLOC), 2);
	assert_int_equal(pairing.count, 0);
	assert_true(pairing.expires == UINT64_MAX);
	/* or each search would walk what was there once */
	for (size_t i = 0; i < PAIRING_BUCKETS; i++)
		assert_int_equal(pairing.buckets[i], PAIRING_NONE);
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
					      1u << GT_FREE), pairing.newest);
		take(pairing_find(&pairing, 16 * (uint64_t)next,
				  1u << GT_FREE), next);
		next++;
	}
	assert_int_equal(pairing.count, PAIRING_MAX - 1);
}

/* As where a window ends over several of them, and some are left. */
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
			take(pairing.oldest, out++);
		assert_int_equal(pairing.count, 1);
		assert_true(pairing.used <= 8);
	}
	take(pairing_find(&pairing, in * 16, 1u << GT_FREE), out);
}

/* What is to be found: the first of a plain list that fits. */
static struct plain {
	uint64_t address;
	unsigned kind;
	uint32_t lane;
} plain[PAIRING_MAX];
static size_t plain_count;

static size_t plain_find(uint64_t address, unsigned kinds)
{
	size_t i = 0;

	while (i < plain_count && (plain[i].address != address ||
				   !(kinds & 1u << plain[i].kind)))
		i++;
	return i;
}

static void take_both(uint64_t address, unsigned kinds)
{
	size_t i = plain_find(address, kinds);
	unsigned found = pairing_find(&pairing, address, kinds);

	assert_int_equal(found == PAIRING_NONE, i == plain_count);
	if (found == PAIRING_NONE)
		return;
	take(found, plain[i].lane);
	plain_count--;
	memmove(&plain[i], &plain[i + 1],
		(plain_count - i) * sizeof(plain[0]));
}

/* Whatever comes and goes: as a list that is searched from its oldest end. */
static void as_a_plain_list(void **state)
{
	static const unsigned kinds[] = { GT_ALLOC, GT_FREE,
					  GT_REALLOC_BEGIN };
	unsigned random = 1;

	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	plain_count = 0;
	for (uint32_t i = 1; i < 50000; i++) {
		uint64_t address;
		unsigned kind, set;

		random = random * 1103515245 + 12345;
		address = 16 + (random >> 16) % (i % 5000 < 2500 ? 3 : 400);
		kind = kinds[(random >> 8) % 3];
		set = 1u << kind | (random & 1u << 27 ? 1u << GT_FREE : 0);
		if (i % 5000 > 2000 || plain_count == PAIRING_MAX)
			take_both(address, set);
		if (plain_count == PAIRING_MAX)
			take_both(plain[0].address, 1u << plain[0].kind);
		plain[plain_count++] = (struct plain){ address, kind, i };
		wait_for(address, kind, i, i);
		assert_int_equal(pairing.count, plain_count);
		assert_int_equal(pairing.slots[pairing.oldest].entry.lane,
				 plain[0].lane);
	}
}

/* Six million searches: a list that is walked from its oldest end looks at a
 * thousand entries each time. */
static void many_of_one_address(void **state)
{
	struct pairing_entry entry;
	clock_t begun = clock();

	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	for (uint32_t i = 1; i < PAIRING_MAX; i++)
		wait_for(0x40, GT_ALLOC, i, i);
	for (uint32_t i = 0; i < 2000000; i++) {
		wait_for(0x40, GT_FREE, i, i);
		assert(pairing_find(&pairing, 0x40, 1u << GT_REALLOC_BEGIN) ==
		       PAIRING_NONE);
		pairing_take(&pairing, pairing_find(&pairing, 0x40,
						    1u << GT_FREE), &entry);
		wait_for(0x40, GT_ALLOC, i, i);
		pairing_take(&pairing, pairing_find(&pairing, 0x40,
						    1u << GT_ALLOC), &entry);
	}
	/* processor time: about 0.2 s, several times that with a sanitizer */
	assert_true(clock() - begun < 5 * CLOCKS_PER_SEC);
}

static void the_end_of_time(void **state)
{
	(void)state;
	memset(&pairing, 0, sizeof(pairing));
	pairing.window = 100;
	wait_for(0x40, GT_FREE, UINT64_MAX - 10, 1);
	assert_true(pairing.expires == UINT64_MAX);
}

static void broken_lists_are_seen(void **state)
{
	(void)state;
	pairing_clear(&pairing);
	for (uint32_t i = 0; i < 6; i++)
		wait_for(0x1000 + i % 2, GT_FREE, 10 + i, i);
	take(pairing_find(&pairing, 0x1000, 1u << GT_FREE), 0);
	assert_true(pairing_is_valid(&pairing));
	pairing.count++;			/* I1 */
	assert_false(pairing_is_valid(&pairing));
	pairing.count--;
	pairing.slots[3].number += 10;		/* I2 */
	assert_false(pairing_is_valid(&pairing));
	pairing.slots[3].number -= 10;
	pairing.slots[2].before = 1;		/* I3 */
	assert_false(pairing_is_valid(&pairing));
	pairing_clear(&pairing);
	assert_true(pairing_is_valid(&pairing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_of_its_kind_first),
		cmocka_unit_test(many_in_turn),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(as_a_plain_list),
		cmocka_unit_test(many_of_one_address),
		cmocka_unit_test(the_end_of_time),
		cmocka_unit_test(broken_lists_are_seen),
	};

	return cmocka_run_group_tests_name("pairing", tests, NULL, NULL);
}
