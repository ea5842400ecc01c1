/* test_series.c: figures of groups over time, compared with what is found by
 * looking at every block of a story. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/stats/histograms.h"
#include "cli/query/series.h"
#include "tests/unit/model_story.h"

static struct model *model;
static struct story *story;

static struct query by(const char *keys, uint64_t limit)
{
	struct query query = { .order = MEASURE_TOTAL, .limit = limit };
	struct buffer why = { 0 };

	assert_true(query_parse_keys(&query, keys, &why));
	return query;
}

/* A story that was read, so that such a query can be answered. */
static void begin(const struct query *query, const char *sample, unsigned seed)
{
	struct block_keys keys = { 0 };

	story = story_new(seed);
	story_write(story, sample);
	query_block_keys(query, &keys);
	model = model_new(NULL, &keys);
	assert_int_equal(model_read(model, story->path), 0);
}

static void end(void)
{
	model_free(model);
	story_free(story);
}

/* Whether a block is in the row's group. */
static bool is_in(const struct query_rows *rows, size_t row,
		  const struct story_block *block)
{
	const struct query *query = rows->query;

	for (unsigned i = 0; i < query->key_count; i++) {
		struct query_value value;

		query_row_value(rows, &rows->list[row], i, &value);
		if (query->keys[i]->of == QUERY_OF_STACK) {
			if (rows->list[row].node != CONTEXT_ROOTS +
			    block->context)
				return false;
		} else if (query->keys[i]->block == BLOCK_KEY_THREAD) {
			if (model_thread(model, (uint32_t)value.value)->tid !=
			    100 + block->thread)
				return false;
		} else if (value.value != histogram_bucket(block->size)) {
			return false;
		}
	}
	return true;
}

static size_t step_of(const struct series_axis *axis, uint64_t stamp)
{
	uint64_t ns = axis->offset_ns + stamp * STORY_TICK_NS;
	size_t step = 0;

	while (step + 1 < axis->steps && series_begin_ns(axis, step + 1) <= ns)
		step++;
	return step;
}

/* The steps of the blocks for which `in` is set. */
static void brute(const struct series_axis *axis, const bool *in,
		  struct series_step *list)
{
	struct series_step now = { 0 };
	size_t at = 0;

	for (uint32_t i = 0; i <= story->step_count; i++) {
		const struct story_step *step = &story->steps[i];
		const struct story_block *block = &story->blocks[step->block];
		size_t until = i == story->step_count ? axis->steps :
			step_of(axis, step->ends ? block->end : block->alloc);

		for (; at < until; at++) {
			list[at] = now;
			now = (struct series_step){
				.live_bytes = now.live_bytes,
				.live_blocks = now.live_blocks,
				.live_bytes_max = now.live_bytes,
			};
		}
		if (i == story->step_count || !in[step->block])
			continue;
		now.live_blocks += step->ends ? -1ull : 1;
		now.live_bytes += step->ends ? -block->size : block->size;
		now.allocations += !step->ends;
		now.allocated_bytes += step->ends ? 0 : block->size;
		now.frees += step->ends;
		now.freed_bytes += step->ends ? block->size : 0;
		now.temporary += step->ends && block->between == 0;
		if (now.live_bytes > now.live_bytes_max)
			now.live_bytes_max = now.live_bytes;
	}
}

static void compare(const struct query *query, size_t shown,
		    const struct series_axis *axis)
{
	struct query_source source = { .model = model,
		.trace = story->path, .end_ns = model_duration_ns(model) };
	struct series_step *list = calloc(axis->steps, sizeof(*list));
	bool *in = calloc(story->count, sizeof(*in));
	bool *others = calloc(story->count, sizeof(*others));
	struct query_rows rows;
	struct series series;

	query_rows_collect(query, &source, &rows);
	assert_int_equal(series_follow(&rows, shown, axis, &series), 0);
	assert_int_equal(series.shown, shown < rows.count ? shown :
			 rows.count);
	memset(others, true, story->count);
	for (size_t row = 0; row < series.shown; row++) {
		for (uint32_t i = 0; i < story->count; i++) {
			in[i] = is_in(&rows, row, &story->blocks[i]);
			others[i] &= !in[i];
		}
		brute(axis, in, list);
		assert_memory_equal(series_of(&series, row), list,
				    axis->steps * sizeof(*list));
	}
	brute(axis, others, list);
	assert_memory_equal(series_others(&series), list,
			    axis->steps * sizeof(*list));
	memset(in, true, story->count);
	brute(axis, in, list);
	assert_memory_equal(series_whole(&series), list,
			    axis->steps * sizeof(*list));
	series_free(&series);
	query_rows_free(&rows);
	free(list);
	free(in);
	free(others);
}

static void each_block_in_its_step(void **state)
{
	static const char *const keys[] = {
		"thread", "stack", "size-class", "thread,size-class",
		"stack,thread",
	};
	static const size_t steps[] = { 1, 2, 7, 100, SERIES_STEPS_MAX };

	(void)state;
	for (unsigned k = 0; k < 5; k++) {
		const struct query query = by(keys[k], k % 2 ? 3 : 0);

		begin(&query, NULL, k + 1);
		for (unsigned i = 0; i < 5; i++) {
			const struct series_axis axis = {
				.end_ns = model_duration_ns(model),
				.steps = steps[i],
			};

			compare(&query, k == 2 ? 100 : k, &axis);
		}
		end();
	}
}

/* Boundaries at which there are events, and an axis on which the recording
 * starts later and ends earlier. */
static void axes(void **state)
{
	const struct query query = by("thread", 0);

	(void)state;
	begin(&query, NULL, 20);
	compare(&query, 2, &(struct series_axis){
		.end_ns = story->stamp * STORY_TICK_NS,
		.steps = 50,
	});
	compare(&query, 2, &(struct series_axis){
		.offset_ns = 12345, .end_ns = 100000, .steps = 17,
	});
	compare(&query, 2, &(struct series_axis){
		.offset_ns = 12345, .end_ns = 10000000, .steps = 40,
	});
	compare(&query, 2, &(struct series_axis){ .end_ns = 3, .steps = 9 });
	end();
}

static bool is_even(void *owner, uint32_t node, const struct figures *figures)
{
	(void)owner, (void)figures;
	return node % 2 == 0;
}

/* What does not count is in no series, and figures agree with those of rows;
 * of a sample, too. */
static void add_up(const char *sample, unsigned seed)
{
	const struct query query = by("stack", 4);
	const struct series_axis axis = { .end_ns = 99999, .steps = 33 };
	struct query_source source = { .keep = is_even };
	struct query_rows rows;
	struct series series;
	uint64_t count = 0, whole = 0;

	begin(&query, sample, seed);
	source.model = model;
	source.trace = story->path;
	query_rows_collect(&query, &source, &rows);
	assert_int_equal(rows.count, 4);
	series_follow(&rows, 4, &axis, &series);
	for (size_t row = 0; row < 4; row++) {
		const struct figures *figures = &rows.list[row].figures;
		struct series_step sum = { 0 }, last = { 0 };

		assert_true(rows.list[row].node % 2 == 0);
		for (size_t i = 0; i < axis.steps; i++) {
			last = series_of(&series, row)[i];
			sum.allocations += last.allocations;
			sum.allocated_bytes += last.allocated_bytes;
			sum.frees += last.frees;
			sum.temporary += last.temporary;
		}
		assert_int_equal(sum.allocations, figures->count);
		assert_int_equal(sum.allocated_bytes, figures->total_bytes);
		assert_int_equal(sum.frees, figures->frees);
		assert_int_equal(sum.temporary, figures->temporary);
		assert_int_equal(last.live_bytes, figures->live_bytes);
		assert_int_equal(last.live_blocks, figures->live_blocks);
	}
	for (size_t i = 0; i < axis.steps; i++)
		whole += series_whole(&series)[i].allocations;
	for (uint32_t i = 0; i < story->count; i++)
		count += (CONTEXT_ROOTS + story->blocks[i].context) % 2 == 0;
	if (sample == NULL)
		assert_int_equal(whole, count);
	else
		assert_true(whole > count);
	series_free(&series);
	query_rows_free(&rows);
	end();
}

static void figures_of_rows(void **state)
{
	(void)state;
	add_up(NULL, 30);
	add_up("200", 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_block_in_its_step),
		cmocka_unit_test(axes),
		cmocka_unit_test(figures_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
