/*
 * test_timeline.c: buckets that double against one list of all changes, and
 * timelines of random programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/terminal/log.h"
#include "cli/model/stats/footprint.h"
#include "cli/model/stats/timeline.h"
#include "tests/unit/model_story.h"

/* ---- buckets against all changes ---- */

#define CHANGES 5000

static struct { uint64_t stamp; struct timeline_sums sums; } changes[CHANGES];

/* What the bucket [begin, end) has to say; `first` is behind the changes
 * before it. */
static struct timeline_bucket expect(uint64_t end, size_t *first)
{
	struct timeline_sums before = { 0 }, last;
	struct timeline_bucket b = { 0 };

	if (*first > 0)
		before = changes[*first - 1].sums;
	last = before;
	b.live_bytes_max = before.live_bytes;
	b.live_blocks_max = before.live_blocks;
	for (; *first < CHANGES && changes[*first].stamp < end; ++*first) {
		last = changes[*first].sums;
		if (last.live_bytes > b.live_bytes_max)
			b.live_bytes_max = last.live_bytes;
		if (last.live_blocks > b.live_blocks_max)
			b.live_blocks_max = last.live_blocks;
	}
	b.live_bytes = last.live_bytes;
	b.live_blocks = last.live_blocks;
	b.allocations = last.allocations - before.allocations;
	b.allocated_bytes = last.allocated_bytes - before.allocated_bytes;
	b.frees = last.frees - before.frees;
	b.freed_bytes = last.freed_bytes - before.freed_bytes;
	return b;
}

static void check(const struct timeline *timeline)
{
	size_t first = 0;

	assert_true(timeline->count <= TIMELINE_BUCKETS);
	assert_int_equal(timeline->start, changes[0].stamp);
	for (size_t i = 0; i < timeline->count; i++) {
		uint64_t end = i + 1 == timeline->count ? UINT64_MAX :
			timeline_stamp(timeline, i + 1);
		struct timeline_bucket must = expect(end, &first);

		assert_memory_equal(&timeline->buckets[i], &must,
				    sizeof(must));
	}
	assert_int_equal(first, CHANGES);
}

static void run(uint64_t start, unsigned step_bits)
{
	struct timeline timeline = { 0 };
	struct timeline_sums sums = { 0 };
	uint64_t stamp = start;

	for (size_t i = 0; i < CHANGES; i++) {
		uint64_t size = (uint64_t)rand() % 1000;

		stamp += (uint64_t)rand() & ((1u << (step_bits *
					(size_t)rand() / RAND_MAX)) - 1);
		if (stamp >= timeline.end)
			timeline_advance(&timeline, stamp, &sums);
		if (rand() % 2 || sums.live_bytes < size ||
		    sums.live_blocks == 0) {
			sums.live_bytes += size;
			sums.live_blocks++;
			sums.allocations++;
			sums.allocated_bytes += size;
			timeline_high(&timeline, sums.live_bytes,
				      sums.live_blocks);
		} else {
			sums.live_bytes -= size;
			sums.live_blocks--;
			sums.frees++;
			sums.freed_bytes += size;
		}
		changes[i].stamp = stamp;
		changes[i].sums = sums;
	}
	timeline_finish(&timeline, &sums);
	if (step_bits > 4)
		assert_true(timeline.count >= TIMELINE_BUCKETS / 2);
	check(&timeline);
	timeline_free(&timeline);
}

static void against_all_changes(void **state)
{
	(void)state;
	srand(5);
	for (unsigned bits = 1; bits < 31; bits++)
		run(1000000, bits);
	run(0, 12);
	run(UINT64_MAX - (UINT64_C(1) << 45), 30);
}

static void extreme_stamps(void **state)
{
	struct timeline timeline = { 0 };
	struct timeline_sums sums = { 0 };

	(void)state;
	timeline_advance(&timeline, 5, &sums);
	timeline_advance(&timeline, UINT64_MAX, &sums);
	timeline_advance(&timeline, UINT64_MAX, &sums);
	timeline_advance(&timeline, 1, &sums);
	timeline_finish(&timeline, &sums);
	assert_true(timeline.count <= TIMELINE_BUCKETS);
	assert_int_equal(timeline.end, UINT64_MAX);
	timeline_free(&timeline);
}

/* ---- of a model ---- */

static void of_a_program(void **state)
{
	struct story *story = story_new(9);
	const struct model_options options = { .wants = MODEL_WANT_TIMELINE };
	struct model *model = model_new(&options, NULL);
	uint64_t frees = 0, allocations = 0, peak = 0;

	(void)state;
	story_write(story, NULL);
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	for (size_t i = 0; i < model_timeline(model)->count; i++) {
		const struct timeline_bucket *b =
			&model_timeline(model)->buckets[i];

		frees += b->frees;
		allocations += b->allocations;
		if (b->live_bytes_max > peak) {
			peak = b->live_bytes_max;
			assert_true(timeline_stamp(model_timeline(model), i) <=
				    model_totals(model)->peak_stamp);
		}
	}
	assert_true(model_timeline(model)->count >= TIMELINE_BUCKETS / 2);
	assert_int_equal(peak, model_totals(model)->peak_bytes);
	assert_int_equal(frees, model_totals(model)->frees);
	assert_int_equal(allocations, model_totals(model)->allocations);
	model_free(model);
	story_free(story);
}

/* ---- the kernel's figures ---- */

static void memory_by_bucket(void **state)
{
	struct footprint footprint = { 0 };
	struct timeline timeline = { 0 };
	struct timeline_sums sums = { 0 };
	struct trace_usage point = { 0 };
	uint64_t rows[4][GT_USAGE_VALUES];

	(void)state;
	for (uint64_t stamp = 100; stamp < 104; stamp++)
		timeline_advance(&timeline, stamp, &sums);
	assert_int_equal(timeline.count, 4);
	point.stamp = 101;
	point.value[GT_USAGE_RSS] = 7;
	point.value[GT_USAGE_FAULTS_MINOR] = 3;
	footprint_point(&footprint, &point);
	point.value[GT_USAGE_RSS] = 5;
	footprint_point(&footprint, &point);
	point.stamp = 103;
	point.value[GT_USAGE_RSS] = 1;
	footprint_point(&footprint, &point);
	timeline_memory(&timeline, &footprint, rows);
	assert_int_equal(rows[0][GT_USAGE_RSS], 0);
	assert_int_equal(rows[1][GT_USAGE_RSS], 7 << 10);
	assert_int_equal(rows[2][GT_USAGE_RSS], 5 << 10);
	assert_int_equal(rows[3][GT_USAGE_RSS], 1 << 10);
	assert_int_equal(rows[3][GT_USAGE_FAULTS_MINOR], 3);
	timeline_free(&timeline);
	footprint_free(&footprint);
}

static void broken_ones(void **state)
{
	struct timeline t = { 0 };
	struct timeline_sums sums = { 0 };

	(void)state;
	assert_true(timeline_is_valid(&t));
	t.end = 1;
	assert_false(timeline_is_valid(&t));
	t.end = 0;
	for (uint64_t i = 0; i < 5000; i++) {
		sums.live_bytes = i;
		timeline_advance(&t, 100 + i, &sums);
		timeline_high(&t, i, 0);
	}
	assert_true(timeline_is_valid(&t));
	t.end++;
	assert_false(timeline_is_valid(&t));
	t.end--;
	t.count += TIMELINE_BUCKETS;
	assert_false(timeline_is_valid(&t));
	t.count -= TIMELINE_BUCKETS;
	assert_true(timeline_is_valid(&t));
	t.shift = 64;
	assert_false(timeline_is_valid(&t));
	timeline_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_all_changes),
		cmocka_unit_test(extreme_stamps),
		cmocka_unit_test(of_a_program),
		cmocka_unit_test(memory_by_bucket),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
