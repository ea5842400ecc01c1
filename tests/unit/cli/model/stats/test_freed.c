/*
 * test_freed.c: who frees, of random programs, against brute force: sums by
 * stack, and by pairs of stacks that allocated and freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "cli/base/terminal/log.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/contexts.h"
#include "cli/model/filters.h"
#include "cli/model/stats/freed.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

static struct story *story;

static uint32_t node_of(uint32_t context)
{
	return CONTEXT_ROOTS + context;
}

static void same(const struct freed_sum *is, const struct freed_sum *must)
{
	assert_int_equal(is->blocks, must->blocks);
	assert_int_equal(is->bytes, must->bytes);
	assert_true(fabs(is->lifetime - must->lifetime) < 0.5);
}

/* Of blocks that one thread (or any, -1) allocated in a context (or any). */
static struct freed_sum sum_of(int thread, int context, uint32_t freed_by)
{
	struct freed_sum sum = { 0 };

	for (uint32_t i = 0; i < story->count; i++) {
		const struct story_block *b = &story->blocks[i];

		if (b->end == STORY_LIVE || b->freed_by != freed_by ||
		    (thread >= 0 && b->thread != (uint32_t)thread) ||
		    (context >= 0 && b->context != (uint32_t)context))
			continue;
		sum.blocks++;
		sum.bytes += b->size;
		sum.lifetime += (double)(b->end - b->alloc);
	}
	return sum;
}

static void check_rows(const struct model *model)
{
	assert_int_equal(model_freed(model)->row_count, STORY_CONTEXTS);
	for (size_t i = 0; i < model_freed(model)->row_count; i++) {
		const struct freed_row *row = &model_freed(model)->rows[i];
		struct freed_sum must = sum_of(-1, -1, row->node -
					       CONTEXT_ROOTS);

		same(&row->sum, &must);
	}
}

static void check_pairs(const struct model *model, bool by_thread)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < model_contexts(model)->cost_count; i++) {
		const struct context_cost *cost =
			&model_contexts(model)->costs[i];
		/* thread 0 is the one for rings without a START */
		int thread = by_thread ? (int)cost->key - 1 : -1;
		const struct freed_row *pair;
		uint32_t at = 0;

		while ((pair = freed_next(model_freed(model), (uint32_t)i,
					  &at))) {
			struct freed_sum must = sum_of(thread, (int)(
				cost->node - CONTEXT_ROOTS), pair->node -
				CONTEXT_ROOTS);

			same(&pair->sum, &must);
			blocks += pair->sum.blocks;
		}
	}
	assert_int_equal(blocks, model_totals(model)->frees);
}

static struct model *read_story(unsigned wants, bool by_thread)
{
	const struct model_options options = { .wants = wants };
	const struct block_keys keys = { .list = { BLOCK_KEY_THREAD },
					 .count = by_thread };
	struct model *model = model_new(&options, &keys);

	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	return model;
}

static void as_brute_force_has_it(void **state)
{
	struct model *model;

	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		story = story_new(seed);
		story->free_stacks = true;
		story_write(story, NULL);
		model = read_story(0, false);
		assert_true(model_has_freed_by(model));
		check_rows(model);
		assert_int_equal(model_freed(model)->pair_count, 0);
		model_free(model);
		model = read_story(MODEL_WANT_FREED_BY, false);
		check_rows(model);
		check_pairs(model, false);
		model_free(model);
		model = read_story(MODEL_WANT_FREED_BY, true);
		check_rows(model);
		check_pairs(model, true);
		model_free(model);
		story_free(story);
	}
}

/* What was not recorded is not there; and it cannot be asked for. */
static void without_stacks(void **state)
{
	struct filter *filter = filter_new(NULL);
	const struct model_options options = { .filter = filter };
	struct model *model;

	(void)state;
	story = story_new(4);
	story_write(story, NULL);
	model = read_story(MODEL_WANT_FREED_BY, false);
	assert_false(model_has_freed_by(model));
	assert_int_equal(model_freed(model)->row_count, 0);
	model_free(model);
	assert_int_equal(filter_take_word(filter, "free-context", "20"), 0);
	model = model_new(&options, NULL);
	assert_int_equal(model_read(model, story->path), EXIT_NOTHING);
	model_free(model);
	filter_free(filter);
	story_free(story);
}

/* Frees that have none, where others have theirs: one row for them all. */
static void some_without(void **state)
{
	struct freed_sum none = { 0 }, must;
	struct model *model;

	(void)state;
	story = story_new(5);
	story->free_stacks = true;
	for (unsigned i = 0; i < STORY_THREADS; i++)
		for (size_t k = 0; k < story->event_count[i]; k++)
			if (story_frees(story->events[i][k].kind) &&
			    story->events[i][k].context == GT_STOP_COUNT + 2)
				story->events[i][k].context = 0;
	story_write(story, NULL);
	model = read_story(0, false);
	for (size_t i = 0; i < model_freed(model)->row_count; i++) {
		const struct freed_row *row = &model_freed(model)->rows[i];

		assert_int_not_equal(row->node, node_of(2));
		if (row->node == FREED_UNKNOWN)
			none = row->sum;
	}
	must = sum_of(-1, -1, 2);
	assert_true(must.blocks > 0);
	same(&none, &must);
	model_free(model);
	story_free(story);
}

static void broken_sums_are_seen(void **state)
{
	const struct freed_sum sum = { .blocks = 1, .bytes = 64 };
	struct freed freed = { 0 };

	(void)state;
	freed_add(&freed, node_of(1), 0, &sum);
	freed_add(&freed, node_of(1), 1, &sum);
	freed_add(&freed, node_of(2), 0, &sum);
	assert_true(freed_is_valid(&freed));
	freed.rows[0].sum.blocks++; /* I1 */
	assert_false(freed_is_valid(&freed));
	freed.rows[0].sum.blocks--;
	freed.pairs[1].next = 1; /* a ring */
	assert_false(freed_is_valid(&freed));
	freed.pairs[1].next = 0;
	assert_true(freed_is_valid(&freed));
	freed_free(&freed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_brute_force_has_it),
		cmocka_unit_test(without_stacks),
		cmocka_unit_test(some_without),
		cmocka_unit_test(broken_sums_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
