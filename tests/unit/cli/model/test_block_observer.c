/*
 * test_block_observer.c: blocks as they begin and end, told one by one (model_follow),
 * against what the program did.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/terminal/log.h"
#include "cli/model/filters.h"
#include "cli/model/model_state.h"
#include "cli/model/block_observer.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

#define SEEDS 5

struct reported {
	const struct story_block *block;
	bool ends;
};

/* What is to be told, in this order; and what was. */
static struct {
	const struct story *story;
	const struct model *model;
	struct reported must[STORY_STEPS * 2];
	size_t must_count, count;
	const struct story_block *live[STORY_STEPS];	/* by number */
	uint32_t most;		/* the largest number */
	size_t live_count, live_most;
	uint32_t pending;	/* the chain of the block that was moved last */
	uint32_t thread;
	uint64_t bytes, reallocs;
	bool some;		/* not all blocks are told: a realloc's block
				 * need not follow the one that it was */
} t;

static bool has_moved(const struct story_block *block)
{
	for (uint32_t i = 0; i < t.story->count; i++)
		if (t.story->blocks[i].chain == block->chain &&
		    t.story->blocks[i].position == block->position + 1)
			return true;
	return false;
}

static const struct story_block *next(bool ends)
{
	const struct reported *reported = &t.must[t.count++];

	assert_true(t.count <= t.must_count);
	assert_int_equal(reported->ends, ends);
	return reported->block;
}

static void check(const struct story_block *must, const struct block *block,
		  uint32_t node)
{
	assert_int_equal(block->address, must->address);
	assert_int_equal(block->size, must->size);
	assert_int_equal(block->alloc, must->alloc);
	assert_int_equal(model_threads(t.model)->list[block->thread].tid,
			 100 + must->thread);
	assert_int_equal(model_contexts(t.model)->nodes[node].address,
			 0x1000 + must->context);
}

static void take_alloc(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint32_t chain)
{
	const struct story_block *must = next(false);

	assert_ptr_equal(owner, &t);
	check(must, block, node);
	assert_int_equal(t.thread, block->thread);
	assert_true(number > 0 && number < STORY_STEPS);
	assert_null(t.live[number]);
	t.live[number] = must;
	t.most = number > t.most ? number : t.most;
	if (++t.live_count > t.live_most)
		t.live_most = t.live_count;
	t.bytes += block->size;
	assert_int_equal(chain != 0, must->position > 1);
	if (t.pending != 0 && !t.some) {
		assert_int_equal(chain, t.pending);
		t.reallocs++;
	}
	t.pending = 0;
}

static void take_end(void *owner, const struct block *block, uint32_t number,
		     uint32_t node, uint64_t stamp, enum edge_end end,
		     uint32_t chain)
{
	const struct story_block *must = next(true);
	bool moved = has_moved(must);

	assert_ptr_equal(owner, &t);
	check(must, block, node);
	assert_ptr_equal(t.live[number], must);
	t.live[number] = NULL;
	t.live_count--;
	t.bytes -= block->size;
	assert_int_equal(stamp, must->end);
	assert_int_equal(end, moved ? EDGE_MOVED : EDGE_FREED);
	assert_int_equal(chain != 0, moved);
	assert_int_equal(block->temporary, must->between == 0);
	t.pending = chain;
}

/* What of the story passes, and with its ends or without. */
static void follow(const struct filter *filter,
		   bool (*wanted)(const struct story_block *), bool ends)
{
	const struct block_observer observer = {
		.owner = &t, .alloc = take_alloc, .end = take_end,
		.thread = &t.thread,
	};
	struct story *story = (struct story *)t.story;
	const struct model_options options = { .filter = filter };
	struct model *model = model_new(&options, NULL);

	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	t.model = model;
	for (uint32_t i = 0; i < story->step_count; i++) {
		const struct story_step *step = &story->steps[i];
		const struct story_block *block = &story->blocks[step->block];

		if (wanted(block) && (ends || !step->ends))
			t.must[t.must_count++] =
				(struct reported){ block, step->ends };
	}
	assert_true(t.must_count > 10);
	assert_int_equal(model_follow(model, story->path, &observer),
			 EXIT_COMPLETE);
	assert_int_equal(t.count, t.must_count);
	assert_int_equal(t.live_count, model_totals(model)->live_blocks);
	assert_int_equal(t.bytes, model_totals(model)->live_bytes);
	model_free(model);
}

static struct story *begin(unsigned seed)
{
	struct story *story = story_new(seed);

	memset(&t, 0, sizeof(t));
	story_write(story, NULL);
	t.story = story;
	return story;
}

static bool all(const struct story_block *block)
{
	(void)block;
	return true;
}

static void everything(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct story *story = begin(seed);

		follow(NULL, all, true);
		assert_int_equal(t.most, t.live_most);
		assert_true(t.reallocs > 100);
		story_free(story);
	}
}

static bool is_large(const struct story_block *block)
{
	return block->size >= 300;
}

static bool is_freed(const struct story_block *block)
{
	return block->end != STORY_LIVE;
}

static void of_selected_blocks(void **state)
{
	static const struct {
		const char *word, *value;
		bool (*wanted)(const struct story_block *);
	} filters[] = {
		{ "fate", "freed", is_freed },
		{ "size-min", "300", is_large },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct filter *filter = filter_new(NULL);
		struct story *story = begin(7);

		filter_take_word(filter, filters[i].word, filters[i].value);
		t.some = true;
		follow(filter, filters[i].wanted, true);
		story_free(story);
		filter_free(filter);
	}
}

static bool is_alive(const struct story_block *block)
{
	return block->alloc <= 40000 &&
		(block->end == STORY_LIVE || block->end > 40000);
}

static void of_a_moment(void **state)
{
	struct filter *filter = filter_new(NULL);
	struct story *story = begin(3);

	(void)state;
	filter_take_word(filter, "alive-at", "400us");
	follow(filter, is_alive, false);
	story_free(story);
	filter_free(filter);
}

/* What came into a trace since it was read is not told. */
static void of_what_was_read(void **state)
{
	const struct block_observer observer = { &t, take_alloc, take_end,
						 &t.thread, NULL };
	struct story *story = begin(11);
	struct model *model = model_new(NULL, NULL);
	uint64_t until = story->blocks[story->count / 2].alloc;

	(void)state;
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	t.model = model;
	model->report.being_written = true;
	model->totals.last_stamp = until;
	for (uint32_t i = 0; i < story->step_count; i++) {
		const struct story_step *step = &story->steps[i];
		const struct story_block *block = &story->blocks[step->block];

		if ((step->ends ? block->end : block->alloc) <= until)
			t.must[t.must_count++] =
				(struct reported){ block, step->ends };
	}
	model_follow(model, story->path, &observer);
	assert_int_equal(t.count, t.must_count);
	assert_true(t.count < story->step_count);
	model_free(model);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(of_selected_blocks),
		cmocka_unit_test(of_a_moment),
		cmocka_unit_test(of_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
