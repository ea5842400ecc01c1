/*
 * test_emit_skipped.c: what threads count of blocks that are never recorded,
 * and what it sums up to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/recorder/emit/emit_skipped.h"
#include "preload/ring/area.h"
#include "preload/sample/skip.h"

#define RINGS (GL_THREADS + 2)	/* in two pieces */

static struct {
	struct gl_header header;
	_Alignas(GL_LINE) struct gl_thread first[GL_THREADS];
	struct gl_thread second[GL_THREADS];
} live;
static struct gl_shared shared;
static struct recording recording;
static struct thread threads[RINGS];
static uint64_t sums[GT_CLASSES][GT_REST_VALUES];

static struct gl_thread *thread_of(const struct gl_shared *from, uint32_t ring)
{
	return (struct gl_thread *)((char *)&live +
				    from->threads[ring / GL_THREADS]) +
	       ring % GL_THREADS;
}

static int each(void **state)
{
	unsigned i;

	(void)state;
	memset(&live, 0, sizeof(live));
	memset(&shared, 0, sizeof(shared));
	memset(threads, 0, sizeof(threads));
	memset(producer, 0, sizeof(*producer));
	producer->live = &live.header;
	producer->shared = &shared;
	sample->limits.size_min = 100;
	sample->limits.size_max = UINT64_MAX;
	shared.threads[0] = (char *)live.first - (char *)&live;
	shared.threads[1] = (char *)live.second - (char *)&live;
	live.header.ring_count = RINGS;
	recording.live = &live.header;
	recording.ring_count = RINGS;
	recording.threads[0] = shared.threads[0];
	recording.threads[1] = shared.threads[1];
	for (i = 0; i < RINGS; i++)
		threads[i].report = thread_of(&shared, i);
	return 0;
}

static void what_is_too_small_is_counted_by_class(void **state)
{
	(void)state;
	assert_true(skip_by_size(&threads[0], GT_ALLOC, 99));
	assert_true(skip_by_size(&threads[0], GT_ALLOC, 64));
	assert_true(skip_by_size(&threads[0], GT_ALLOC, 0));
	assert_false(skip_by_size(&threads[0], GT_ALLOC, 100));
	emit_skipped_sum(&recording, sums);
	assert_int_equal(sums[7][GT_REST_ALLOCATIONS], 2);
	assert_int_equal(sums[7][GT_REST_BYTES], 99 + 64);
	assert_int_equal(sums[0][GT_REST_ALLOCATIONS], 1);
	assert_int_equal(sums[6][GT_REST_ALLOCATIONS], 0);
}

static void all_threads_are_in_the_sum(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < RINGS; i++)
		assert_true(skip_by_size(&threads[i], GT_ALLOC, 10));
	emit_skipped_sum(&recording, sums);
	assert_int_equal(sums[4][GT_REST_ALLOCATIONS], RINGS);
	assert_int_equal(sums[4][GT_REST_BYTES], 10 * RINGS);
}

/* Its area is wiped, and there is no live mapping. */
static void a_forked_child_counts_nothing(void **state)
{
	(void)state;
	memset(threads, 0, sizeof(threads));
	memset(producer, 0, sizeof(*producer));
	memset(sample, 0, sizeof(*sample));
	assert_true(skip_by_size(&threads[0], GT_ALLOC, 10));
	emit_skipped_sum(&recording, sums);
	assert_int_equal(sums[4][GT_REST_ALLOCATIONS], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_too_small_is_counted_by_class,
				       each),
		cmocka_unit_test_setup(all_threads_are_in_the_sum, each),
		cmocka_unit_test_setup(a_forked_child_counts_nothing, each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	sample_alloc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
