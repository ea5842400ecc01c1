/* test_event_merge.c: the heap of rings, when it is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/recorder/event_merge.h"

#define RINGS 6

static void a_broken_heap_is_seen(void **state)
{
	static struct block_table table;
	struct event_merge merge = { 0 };
	struct event_merge_ring *rings;
	uint32_t *heap, i;

	(void)state;
	assert_int_equal(event_merge_init(&merge, &table), 0);
	assert_true(vector_reach(&merge.rings, RINGS * sizeof(*rings)));
	assert_true(vector_reach(&merge.heap, RINGS * sizeof(*heap)));
	rings = (struct event_merge_ring *)merge.rings.at;
	heap = (uint32_t *)merge.heap.at;
	for (i = 0; i < RINGS; i++) {
		rings[i].tick = 100 + i;
		heap[i] = i;
	}
	merge.heaped = RINGS;
	assert_true(event_merge_heap_is_valid(&merge));
	rings[4].tick = 90;	/* its turn is before its parent's */
	assert_false(event_merge_heap_is_valid(&merge));
	rings[4].tick = 104;
	heap[5] = GL_RINGS_MAX;
	assert_false(event_merge_heap_is_valid(&merge));
	heap[5] = 5;
	merge.heaped = GL_RINGS_MAX + 1;
	assert_false(event_merge_heap_is_valid(&merge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_heap_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
