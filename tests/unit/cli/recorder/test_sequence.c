/* test_sequence.c: the heap of rings, when it is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/recorder/sequence.h"

#define RINGS 6

static void a_broken_heap_is_seen(void **state)
{
	static struct ledger ledger;
	struct sequence sequence = { 0 };
	struct sequence_ring *rings;
	uint32_t *heap, i;

	(void)state;
	assert_int_equal(sequence_init(&sequence, &ledger), 0);
	assert_true(grown_reach(&sequence.rings, RINGS * sizeof(*rings)));
	assert_true(grown_reach(&sequence.heap, RINGS * sizeof(*heap)));
	rings = (struct sequence_ring *)sequence.rings.at;
	heap = (uint32_t *)sequence.heap.at;
	for (i = 0; i < RINGS; i++) {
		rings[i].tick = 100 + i;
		heap[i] = i;
	}
	sequence.heaped = RINGS;
	assert_true(sequence_heap_is_valid(&sequence));
	rings[4].tick = 90;	/* its turn is before its parent's */
	assert_false(sequence_heap_is_valid(&sequence));
	rings[4].tick = 104;
	heap[5] = GL_RINGS_MAX;
	assert_false(sequence_heap_is_valid(&sequence));
	heap[5] = 5;
	sequence.heaped = GL_RINGS_MAX + 1;
	assert_false(sequence_heap_is_valid(&sequence));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_heap_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
