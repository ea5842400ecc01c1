/*
 * test_coverage.c: what is selected, what is not and what nobody can decide add
 * up to all that is known of; and what is missing is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/model/coverage.h"
#include "cli/model/filters.h"
#include "cli/model/model_state.h"
#include "tests/unit/filter_words.h"
#include "tests/unit/model_story.h"

/* What only sums are known of: 10 blocks, one of them live; and REST. */
static const struct trace_totals totals = {
	.context = GT_STOP_COUNT, .thread = 1, .value = {
		[GT_TOTALS_ALLOCATIONS] = 10, [GT_TOTALS_BYTES] = 500,
		[GT_TOTALS_FREES] = 9, [GT_TOTALS_FREED_BYTES] = 450,
	}
};
static const struct trace_skipped uncounted = { .size = { [3] = { 7, 40 } } };

static struct story *story;

/* Of a trace with such sums, or without. */
static struct coverage
read_story(const struct filter *filter, bool sums,
	   enum coverage_decision (*decide)(void *owner, uint32_t node))
{
	const struct model_options options = { .filter = filter };
	struct model *model = model_new(&options, NULL);
	struct coverage coverage;

	if (sums) {
		omitted_totals(&model->omitted, &totals);
		omitted_skipped(&model->omitted, &uncounted);
	}
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	coverage_of(model, decide, NULL, &coverage);
	model_free(model);
	return coverage;
}

static void expect(const struct coverage_amount *amount, uint64_t allocations,
		   uint64_t bytes, uint64_t live_blocks, uint64_t live_bytes)
{
	assert_int_equal(amount->allocations, allocations);
	assert_int_equal(amount->bytes, bytes);
	assert_int_equal(amount->live_blocks, live_blocks);
	assert_int_equal(amount->live_bytes, live_bytes);
}

/* Those of the story that are of a size, from `min` on. */
static struct coverage_amount larger(uint64_t min)
{
	struct coverage_amount sum = { 0 };

	for (uint32_t i = 0; i < story->count; i++) {
		const struct story_block *block = &story->blocks[i];

		if (block->size < min)
			continue;
		sum.allocations++;
		sum.bytes += block->size;
		if (block->end != STORY_LIVE)
			continue;
		sum.live_blocks++;
		sum.live_bytes += block->size;
	}
	return sum;
}

static void sums_are_selected_without_filters(void **state)
{
	const struct coverage_amount all = larger(0);
	struct coverage coverage = read_story(NULL, true, NULL);

	(void)state;
	expect(&coverage.left_out, 10, 500, 1, 50);
	expect(&coverage.unrecorded, 7, 40, 0, 0);
	expect(&coverage.whole, all.allocations + 17, all.bytes + 540,
	       all.live_blocks + 1, all.live_bytes + 50);
	assert_memory_equal(&coverage.selected, &coverage.whole,
			    sizeof(coverage.whole));
	expect(&coverage.not_selected, 0, 0, 0, 0);
	expect(&coverage.undecidable, 0, 0, 0, 0);
	assert_true(coverage.has_live);
	assert_int_equal(coverage.lost_ends, 0);
}

static void filters_of_blocks_cannot_judge_sums(void **state)
{
	const struct coverage_amount all = larger(0), some = larger(200);
	struct filter *filter = filter_new(NULL);
	struct coverage coverage;

	(void)state;
	assert_int_equal(filter_take_word(filter, "size-min", "200"), 0);
	coverage = read_story(filter, true, NULL);
	assert_true(some.live_blocks > 0 && some.live_blocks < all.live_blocks);
	expect(&coverage.selected, some.allocations, some.bytes,
	       some.live_blocks, some.live_bytes);
	expect(&coverage.not_selected, all.allocations - some.allocations,
	       all.bytes - some.bytes, all.live_blocks - some.live_blocks,
	       all.live_bytes - some.live_bytes);
	expect(&coverage.undecidable, 17, 540, 1, 50);
	expect(&coverage.whole, all.allocations + 17, all.bytes + 540,
	       all.live_blocks + 1, all.live_bytes + 50);
	expect(&coverage.cut, 0, 0, 0, 0);
	filter_free(filter);
}

static void at_a_moment_live_means_something_else(void **state)
{
	struct filter *filter = filter_new(NULL);
	struct coverage coverage;

	(void)state;
	assert_int_equal(filter_take_word(filter, "alive-at", "50%"), 0);
	coverage = read_story(filter, true, NULL);
	assert_false(coverage.has_live);
	assert_int_equal(coverage.whole.allocations,
			 larger(0).allocations + 17);
	assert_int_equal(coverage.whole.live_blocks, 0);
	assert_int_equal(coverage.undecidable.live_bytes, 0);
	filter_free(filter);
}

/* By their numbers, of three each. */
static enum coverage_decision by_node(void *owner, uint32_t node)
{
	(void)owner;
	return (enum coverage_decision)(node % 3);
}

static void of_stacks_as_they_are_judged(void **state)
{
	const struct coverage_amount all = larger(0);
	const struct coverage coverage = read_story(NULL, false, by_node);
	const struct coverage with = read_story(NULL, true, by_node);

	(void)state;
	expect(&coverage.whole, all.allocations, all.bytes, all.live_blocks,
	       all.live_bytes);
	assert_true(coverage.selected.allocations > 0);
	assert_true(coverage.not_selected.allocations > 0);
	assert_true(coverage.undecidable.allocations > 0);
	assert_memory_equal(&coverage.undecidable, &coverage.cut,
			    sizeof(coverage.cut));
	/* of what is in sums the stack is known, not of what was counted */
	assert_int_equal(with.undecidable.allocations, with.cut.allocations +
			 7);
	assert_int_equal(with.whole.allocations, all.allocations + 17);
}

static void added_up(void **state)
{
	const struct coverage a = {
		.whole = { 1, 2, 3, 4 }, .causes = 1 << COVERAGE_CULL,
		.lost_ends = 5, .sample_mean = 9, .ungrouped = 2,
	};
	const struct coverage b = {
		.whole = { 10, 20, 30, 40 }, .has_live = true,
		.causes = 1 << COVERAGE_LIMIT, .lost_ends = 6, .dropped = 7,
		.sample_mean = 4, .foreign_frees = 3,
	};
	struct coverage sum = { 0 };

	(void)state;
	coverage_add(&sum, &a);
	coverage_add(&sum, &b);
	expect(&sum.whole, 11, 22, 33, 44);
	assert_true(sum.has_live);
	assert_int_equal(sum.causes, 1 << COVERAGE_CULL | 1 << COVERAGE_LIMIT);
	assert_int_equal(sum.lost_ends, 11);
	assert_int_equal(sum.dropped, 7);
	assert_int_equal(sum.sample_mean, 9);
	assert_int_equal(sum.foreign_frees, 3);
	assert_int_equal(sum.ungrouped, 2);
}

/* What the trace was made with, if anything is left out of it. */
static void causes(void **state)
{
	static const struct {
		const char *key, *value;
		unsigned set;
	} made[] = {
		{ "cull_ns", "1000", 1 << COVERAGE_CULL },
		{ "depth", "0", 1 << COVERAGE_DEPTH_0 },
		{ "depth", "3", 0 },
		{ "part", "2", 1 << COVERAGE_LIMIT },
		{ "pid", "2", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		struct model *model = model_new(NULL, NULL);
		struct coverage coverage;

		model_set_fact(model, GT_INFO, made[i].key, made[i].value);
		model_finish(model);
		coverage_of(model, NULL, NULL, &coverage);
		assert_int_equal(coverage.causes, 0);
		omitted_totals(&model->omitted, &totals);
		coverage_of(model, NULL, NULL, &coverage);
		assert_int_equal(coverage.causes, made[i].set);
		model->omitted.run.value[GT_RUN_LIFETIME_NS] = 1001;
		coverage_of(model, NULL, NULL, &coverage);
		assert_int_equal(coverage.causes, made[i].set |
				 1 << COVERAGE_STRIP);
		model->omitted.run.value[GT_RUN_LIFETIME_NS] = 1000;
		coverage_of(model, NULL, NULL, &coverage);
		assert_int_equal(coverage.causes, made[i].set | (i > 0) <<
				 COVERAGE_STRIP);
		model_free(model);
	}
}

/* Two blocks at one address, and no free between: the first one's end. */
static void ends_that_were_not_seen(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct coverage coverage;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct trace_event event = {
			.stamp = 1000000 * (i + 1), .address = 64, .size = 5,
			.kind = i < 2 ? GT_ALLOC : GT_FREE,
		};

		model_events(model, 0, &event, 1);
	}
	model_finish(model);
	coverage_of(model, NULL, NULL, &coverage);
	expect(&coverage.whole, 2, 10, 0, 0);
	assert_int_equal(coverage.lost_ends, 1);
	assert_int_equal(coverage.unpaired, 1);
	model_free(model);
}

static int make(void **state)
{
	(void)state;
	story = story_new(5);
	story_write(story, NULL);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	story_free(story);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_selected_without_filters),
		cmocka_unit_test(filters_of_blocks_cannot_judge_sums),
		cmocka_unit_test(at_a_moment_live_means_something_else),
		cmocka_unit_test(of_stacks_as_they_are_judged),
		cmocka_unit_test(added_up),
		cmocka_unit_test(causes),
		cmocka_unit_test(ends_that_were_not_seen),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
