/*
 * test_omitted.c: totals of blocks that are not in the trace come to the
 * figures of those that are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "cli/model/core/contexts.h"
#include "cli/model/omitted.h"
#include "cli/model/model_state.h"
#include "cli/model/stats/histograms.h"

static struct model *model;

static void event(unsigned kind, uint64_t stamp, uint64_t address,
		  uint64_t size)
{
	struct trace_event e = { .stamp = stamp, .address = address,
				 .size = size, .context = GT_STOP_COUNT,
				 .kind = (uint8_t)kind };

	model_events(model, 0, &e, 1);
}

static void start(uint64_t temporary)
{
	const struct model_options options = { .temporary = temporary };
	struct trace_node node = { GT_STOP_COUNT, 0, 0x1000 };

	model = model_new(&options, NULL);
	contexts_define(&model->contexts, &model->images, &node);
}

static void end(void)
{
	model_free(model);
}

static void rows_add_up(void **state)
{
	struct trace_totals totals = { .context = GT_STOP_COUNT, .value = {
		[GT_TOTALS_ALLOCATIONS] = 10, [GT_TOTALS_BYTES] = 500,
		[GT_TOTALS_FREES] = 9, [GT_TOTALS_FREED_BYTES] = 450,
		[GT_TOTALS_TEMPORARY] = 4, [GT_TOTALS_LIFETIME] = 77,
		[GT_TOTALS_FIRST] = 5, [GT_TOTALS_LAST] = 9000,
		[GT_TOTALS_OWN_PEAK_BYTES] = 300,
		[GT_TOTALS_OWN_PEAK_BLOCKS] = 3,
	} };
	const struct trace_classes classes = {
		.size = { [6] = { 10, 500, 9, 450, 4, 77 } },
		.lifetime = { [4] = { 9, 450 } },
	};
	const struct trace_run run = { .value = {
		[GT_RUN_PEAK_BYTES] = 1000, [GT_RUN_PEAK_BLOCKS] = 12,
		[GT_RUN_PEAK_STAMP] = 600 } };
	const struct context_cost *cost;
	const struct size_class *size;

	(void)state;
	start(0);
	omitted_totals(&model->omitted, &totals);
	event(GT_ALLOC, 100, 16, 60);
	event(GT_ALLOC, 200, 32, 40);
	event(GT_FREE, 300, 16, 0);
	omitted_totals(&model->omitted, &totals);
	omitted_classes(&model->omitted, &classes);
	omitted_classes(&model->omitted, &classes);
	omitted_run(&model->omitted, &run);
	model_finish(model);
	cost = &model->contexts.costs[0];
	assert_int_equal(model->contexts.cost_count, 1);
	assert_int_equal(cost->allocations, 22);
	assert_int_equal(cost->total_bytes, 1100);
	assert_int_equal(cost->frees, 19);
	assert_int_equal(cost->temporary, 8);
	assert_int_equal(cost->live_blocks, 3);
	assert_int_equal(cost->live_bytes, 140);
	assert_int_equal(cost->own_peak_bytes, 300);
	assert_int_equal(cost->own_peak_blocks, 3);
	assert_int_equal(cost->first, 5);
	assert_int_equal(cost->last, 9000);
	assert_true(cost->lifetime == 77 * 2 + 200);
	assert_int_equal(cost->peak_bytes, 100);
	assert_int_equal(model->totals.allocations, 22);
	assert_int_equal(model->totals.live_bytes, 140);
	assert_int_equal(model->totals.peak_bytes, 1000);
	assert_int_equal(model->totals.peak_stamp, 600);
	size = &model->histograms.sizes[6];
	assert_int_equal(size->allocations, 22);
	assert_int_equal(size->bytes, 1100);
	assert_int_equal(size->frees, 19);
	assert_int_equal(size->temporary, 8);
	assert_int_equal(size->live_blocks, 3);
	assert_int_equal(size->live_bytes, 140);
	assert_true(size->lifetime == 77 * 2 + 200);
	assert_int_equal(model->histograms.lifetimes[4].bytes, 900);
	assert_int_equal(model->omitted.blocks, 20);
	end();
}

/* More freed than allocated: nothing is live of it. */
static void impossible_numbers(void **state)
{
	struct trace_totals totals = { .context = 4000000000u, .value = {
		[GT_TOTALS_ALLOCATIONS] = 1, [GT_TOTALS_BYTES] = 5,
		[GT_TOTALS_FREES] = UINT64_MAX,
		[GT_TOTALS_FREED_BYTES] = UINT64_MAX,
	} };

	(void)state;
	start(0);
	omitted_totals(&model->omitted, &totals);
	model_finish(model);
	assert_int_equal(model->totals.live_bytes, 0);
	assert_int_equal(model->totals.live_blocks, 0);
	end();
}

/* Blocks that lie between two events of a thread make others not temporary. */
/* As a recorder writes them that goes on: frees come later. */
static void frees_in_a_later_row(void **state)
{
	struct trace_totals made = { .context = GT_STOP_COUNT, .value = {
		[GT_TOTALS_ALLOCATIONS] = 10, [GT_TOTALS_BYTES] = 500 } };
	struct trace_totals freed = { .context = GT_STOP_COUNT, .value = {
		[GT_TOTALS_ALLOCATIONS] = 1, [GT_TOTALS_BYTES] = 50,
		[GT_TOTALS_FREES] = 8, [GT_TOTALS_FREED_BYTES] = 400 } };
	struct trace_totals other = { .context = GT_STOP_COUNT, .thread = 1 };

	(void)state;
	start(0);
	omitted_totals(&model->omitted, &made);
	omitted_totals(&model->omitted, &other);
	omitted_totals(&model->omitted, &freed);
	omitted_settle(&model->omitted);
	assert_int_equal(model->omitted.live_blocks, 3);
	assert_int_equal(model->omitted.live_bytes, 150);
	omitted_apply(model);
	assert_int_equal(model->totals.allocations, 11);
	assert_int_equal(model->totals.live_blocks, 3);
	assert_int_equal(model->totals.live_bytes, 150);
	end();
}

static void between_two_events(void **state)
{
	struct trace_event left = { .stamp = 150, .kind = GT_EXTRA,
				    .what = GT_EXTRA_LEFT_OUT, .size = 2 };
	uint64_t args[GT_EXTRA_ARGS] = { 0 };

	(void)state;
	left.args = args;
	for (uint64_t n = 0; n < 4; n++) {
		start(n);
		event(GT_ALLOC, 100, 16, 60);
		model_events(model, 0, &left, 1);
		event(GT_FREE, 300, 16, 0);
		model_finish(model);
		assert_int_equal(model->totals.temporary, n >= 2);
		end();
	}
}

/* Where a recording was cleared, the peak is told anew. */
static void the_highest_peak(void **state)
{
	const struct trace_run high = { .value = { 900, 9, 100, 1, 7 } };
	const struct trace_run low = { .value = { 50, 5, 200, 0, 8 } };
	const uint64_t *run;

	(void)state;
	start(0);
	run = model->omitted.run.value;
	omitted_run(&model->omitted, &high);
	omitted_run(&model->omitted, &low);
	assert_int_equal(run[GT_RUN_PEAK_BYTES], 900);
	assert_int_equal(run[GT_RUN_PEAK_STAMP], 100);
	assert_int_equal(run[GT_RUN_LIFETIME_NS], 8);
	model_finish(model);
	assert_int_equal(model->totals.peak_bytes, 900);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(impossible_numbers),
		cmocka_unit_test(frees_in_a_later_row),
		cmocka_unit_test(between_two_events),
		cmocka_unit_test(the_highest_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
