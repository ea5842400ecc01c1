/* test_cull_queue.c: the line that events wait in, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "cli/recorder/live_blocks/cull.h"
#include "cli/recorder/live_blocks/cull_queue.h"

#define SLOTS 32

static struct cull_slot slots[SLOTS];
static struct cull_ring rings[2];
static struct cull cull;

static int each(void **state)
{
	uint32_t i;

	(void)state;
	cull = (struct cull){ .fresh = 1 };
	cull.slots.at = (void *)slots;
	cull.slots.ready = cull.slots.max = sizeof(slots);
	cull.rings = rings;
	rings[0] = rings[1] = (struct cull_ring){ 0 };
	for (i = 0; i < 8; i++)
		cull_append(&cull, i % 2);
	return 0;
}

static void what_is_taken_out_is_used_again(void **state)
{
	(void)state;
	assert_true(cull_is_valid(&cull));
	cull_remove(&cull, 3);
	assert_true(cull_is_valid(&cull));
	assert_int_equal(cull.used, 7);
	assert_int_equal(cull_append(&cull, 1), 3);
	assert_true(cull_is_valid(&cull));
	assert_int_equal(cull.last, 3);
	assert_int_equal(rings[0].last, 7);
}

/* The disk is full, and so is the line. */
static void what_has_no_room_waits_nowhere(void **state)
{
	static struct chunk_out out = { .err = -ENOSPC };
	static struct ring_drain drain = { .out = &out };
	const uint64_t word[8] = { GT_ALLOC };
	uint32_t i, number = 1;

	(void)state;
	cull.drain = &drain;
	cull.max = SLOTS / 2;
	for (i = 0; i < 4 * SLOTS && cull.fresh <= SLOTS; i++)
		number = cull_put(&cull, 0, i, i, word);
	assert_int_equal(i, 4 * SLOTS);
	assert_int_equal(number, 0);
	assert_true(cull_is_valid(&cull));
}

static void a_broken_line_is_seen(void **state)
{
	(void)state;
	slots[4].serial = 1;		/* out of order */
	assert_false(cull_is_valid(&cull));
	slots[4].serial = 4;
	assert_true(cull_is_valid(&cull));
	slots[4].previous = 2;
	assert_false(cull_is_valid(&cull));
	slots[4].previous = 3;
	slots[4].ring_next = 5;		/* another ring's */
	assert_false(cull_is_valid(&cull));
	slots[4].ring_next = 6;
	cull.used--;
	assert_false(cull_is_valid(&cull));
	cull.used++;
	cull.last = 7;
	assert_false(cull_is_valid(&cull));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_taken_out_is_used_again, each),
		cmocka_unit_test_setup(what_has_no_room_waits_nowhere, each),
		cmocka_unit_test_setup(a_broken_line_is_seen, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
