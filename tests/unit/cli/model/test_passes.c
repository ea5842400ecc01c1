/*
 * test_passes.c: traces that are read more than once: until a moment, for
 * exact maxima of groups, and not from a pipe; several models at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/base/terminal/log.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/contexts.h"
#include "cli/model/filters.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

static struct story *story;

static struct model *new_model(const struct filter *filter)
{
	const struct model_options options = { .filter = filter };

	return model_new(&options, NULL);
}

/* As if the recording had ended at that moment. */
static void until_a_moment(void **state)
{
	(void)state;
	for (unsigned part = 1; part < 10; part++) {
		struct model_options options = { 0 };
		struct model *model;
		uint64_t stamp, count = 0, live = 0, peak = 0;

		story = story_new(part);
		story_write(story, NULL);
		stamp = story->blocks[story->count / 10 * part].alloc;
		options.until_ns = stamp * STORY_TICK_NS;
		model = model_new(&options, NULL);
		assert_int_equal(model_read(model, story->path),
				 EXIT_COMPLETE);
		for (uint32_t i = 0; i < story->step_count; i++) {
			const struct story_step *step = &story->steps[i];
			const struct story_block *block =
				&story->blocks[step->block];

			if ((step->ends ? block->end : block->alloc) > stamp)
				break;
			count += !step->ends;
			live += step->ends ? -block->size : block->size;
			peak = live > peak ? live : peak;
		}
		assert_int_equal(model_totals(model)->allocations, count);
		assert_int_equal(model_totals(model)->live_bytes, live);
		assert_int_equal(model_totals(model)->peak_bytes, peak);
		model_free(model);
		story_free(story);
	}
}

/* ---- groups ---- */

static uint32_t group(void *owner, uint32_t node, uint32_t part)
{
	const struct model *model = owner;

	(void)part;
	if (node < CONTEXT_ROOTS ||
	    model_contexts(model)->nodes[node].address == 0x1000)
		return MODEL_NO_GROUP;
	return (uint32_t)(model_contexts(model)->nodes[node].address - 0x1000) %
	       3;
}

static uint64_t group_key(const struct story_block *block)
{
	return block->context == 0 ? 99 : block->context % 3;
}

static void maxima_of_groups(void **state)
{
	static bool wanted[STORY_STEPS];

	(void)state;
	for (unsigned filtered = 0; filtered < 2; filtered++) {
		struct filter *filter = filter_new(NULL);
		struct model *model = new_model(filter);
		struct group_peak peaks[3];

		story = story_new(17);
		story_write(story, NULL);
		if (filtered)
			filter_take_word(filter, "fate", "freed");
		for (uint32_t i = 0; i < story->count; i++)
			wanted[i] = !filtered ||
				    story->blocks[i].end != STORY_LIVE;
		assert_int_equal(model_read(model, story->path),
				 EXIT_COMPLETE);
		assert_int_equal(model_group_peaks(model, story->path, group,
						   model, peaks, 3),
				 EXIT_COMPLETE);
		for (uint32_t i = 0; i < 3; i++) {
			struct story_figures must =
				story_figures(story, wanted, group_key, i, 0);

			assert_int_equal(peaks[i].bytes, must.own_peak_bytes);
			assert_int_equal(peaks[i].blocks,
					 must.own_peak_blocks);
			assert_int_equal(peaks[i].ns, must.own_peak_stamp *
					 STORY_TICK_NS);
		}
		model_free(model);
		filter_free(filter);
		story_free(story);
	}
}

/* By thread and context at once: neither alone says which group. The arena is
 * another key, of which nothing is asked. */
static uint32_t mixed_group(void *owner, uint32_t node, uint32_t key)
{
	const struct model *model = owner;
	uint32_t of_node = group(owner, node, key), values[BLOCK_KEYS_MAX];

	block_keys_values(model_block_keys(model), key, values);
	return of_node == MODEL_NO_GROUP ? of_node :
		of_node * 2 + values[0] % 2;
}

static uint64_t mixed_key(const struct story_block *block)
{
	return block->context == 0 ? 99 : block->context % 3 * 2 +
		(block->thread + 1) % 2;
}

static void maxima_by_keys(void **state)
{
	static bool wanted[STORY_STEPS];
	const struct block_keys keys = {
		.list = { BLOCK_KEY_THREAD, BLOCK_KEY_ARENA }, .count = 2,
	};
	struct model *model = model_new(NULL, &keys);
	struct group_peak peaks[6];

	(void)state;
	story = story_new(23);
	story_write(story, NULL);
	memset(wanted, true, sizeof(wanted));
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	assert_int_equal(model_group_peaks(model, story->path, mixed_group,
					   model, peaks, 6), EXIT_COMPLETE);
	for (uint32_t i = 0; i < 6; i++) {
		struct story_figures must =
			story_figures(story, wanted, mixed_key, i, 0);

		assert_true(must.own_peak_bytes > 0);
		assert_int_equal(peaks[i].bytes, must.own_peak_bytes);
		assert_int_equal(peaks[i].blocks, must.own_peak_blocks);
	}
	model_free(model);
	story_free(story);
}

static void not_from_a_pipe(void **state)
{
	struct filter *filter = filter_new(NULL);
	struct model *model = new_model(filter);
	char path[] = "/tmp/gnomon-unit-pipe-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	filter_take_word(filter, "fate", "freed");
	/* Nobody writes: it would wait for ever. */
	assert_int_equal(model_read(model, path), EXIT_NOTHING);
	unlink(path);
	model_free(model);
	filter_free(filter);
}

/* Neither knows of the other. */
static void two_at_once(void **state)
{
	struct model *a = new_model(NULL), *b = new_model(NULL);
	uint64_t live;

	(void)state;
	story = story_new(1);
	story_write(story, NULL);
	assert_int_equal(model_read(a, story->path), EXIT_COMPLETE);
	live = model_totals(a)->live_bytes;
	assert_int_equal(model_read(b, story->path), EXIT_COMPLETE);
	assert_int_equal(model_totals(a)->live_bytes, live);
	assert_int_equal(model_totals(b)->live_bytes, live);
	model_free(a);
	assert_int_equal(model_contexts(b)->cost_count, STORY_CONTEXTS);
	model_free(b);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_a_moment),
		cmocka_unit_test(maxima_of_groups),
		cmocka_unit_test(maxima_by_keys),
		cmocka_unit_test(not_from_a_pipe),
		cmocka_unit_test(two_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
