/*
 * test_selection.c: every word of a filter, and words together, on random
 * programs: all figures of the selected blocks against brute force.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/contexts.h"
#include "cli/model/filters.h"
#include "cli/model/selection.h"
#include "cli/model/stats/figures.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

static struct story *story;
static uint64_t until_end(const struct story_block *b)
{
	return b->end == STORY_LIVE ? story->stamp : b->end;
}

/* ---- what words mean, once more ---- */

static uint64_t lived_ns(const struct story_block *b)
{
	return (until_end(b) - b->alloc) * STORY_TICK_NS;
}

static bool alive_at(const struct story_block *b, uint64_t stamp)
{
	return b->alloc <= stamp && (b->end == STORY_LIVE || b->end > stamp);
}

static const struct story_block *of_chain(const struct story_block *b,
					  bool first)
{
	const struct story_block *found = NULL;

	for (uint32_t i = 0; i < story->count; i++)
		if (story->blocks[i].chain == b->chain &&
		    (found == NULL ||
		     (story->blocks[i].position < found->position) == first))
			found = &story->blocks[i];
	return found;
}

static bool from(const struct story_block *b)
{
	return b->alloc * STORY_TICK_NS >= 300000;
}

static bool to(const struct story_block *b)
{
	return b->alloc * STORY_TICK_NS < 1100000;
}

static bool to_two(const struct story_block *b)
{
	return b->alloc < story->stamp / 2;
}

static bool alive(const struct story_block *b)
{
	return alive_at(b, 40000);
}

static bool alive_either(const struct story_block *b)
{
	return alive_at(b, 40000) || alive_at(b, story->stamp / 4);
}

static bool alive_2(const struct story_block *b)
{
	return alive_at(b, 60000);
}

static bool alive_last(const struct story_block *b)
{
	return alive_at(b, story->stamp);
}

static bool size_min(const struct story_block *b)
{
	return b->size >= 300;
}

static bool size_max(const struct story_block *b)
{
	return b->size <= 2048;
}

static bool lifetime_min(const struct story_block *b)
{
	return lived_ns(b) >= 20000;
}

static bool lifetime_max(const struct story_block *b)
{
	return lived_ns(b) <= 90010;
}

static bool is_live(const struct story_block *b)
{
	return b->end == STORY_LIVE;
}

static bool is_freed(const struct story_block *b)
{
	return !is_live(b);
}

static bool is_temporary(const struct story_block *b)
{
	return is_freed(b) && b->between <= 1;
}

static bool chain_live(const struct story_block *b)
{
	return is_live(of_chain(b, false));
}

static bool group_live(const struct story_block *b)
{
	for (uint32_t i = 0; i < story->count; i++)
		if (story->blocks[i].context == b->context &&
		    is_live(&story->blocks[i]))
			return true;
	return false;
}

static bool live_or_temporary(const struct story_block *b)
{
	return is_live(b) || is_temporary(b);
}

static bool group_live_or_temporary(const struct story_block *b)
{
	return group_live(b) || is_temporary(b);
}

static bool freed_by_3(const struct story_block *b)
{
	return is_freed(b) && b->freed_by == 3;
}

static bool freed_by_3_or_7(const struct story_block *b)
{
	return is_freed(b) && (b->freed_by == 3 || b->freed_by == 7);
}

static bool thread_1(const struct story_block *b)
{
	return b->thread == 1;
}

static bool threads_0_2(const struct story_block *b)
{
	return b->thread != 1;
}

static bool all(const struct story_block *b)
{
	return b != NULL;
}

static bool none(const struct story_block *b)
{
	return b == NULL;
}

static bool address_min(const struct story_block *b)
{
	return b->address >= 0x10400;
}

static bool address_max(const struct story_block *b)
{
	return b->address <= 0x11000;
}

static bool libc(const struct story_block *b)
{
	return b->layout & GT_LAYOUT_KNOWN;
}

static bool other_allocator(const struct story_block *b)
{
	return !libc(b);
}

static bool main_arena(const struct story_block *b)
{
	return b->layout == GT_LAYOUT_KNOWN;
}

static bool other_arena(const struct story_block *b)
{
	return b->layout & GT_LAYOUT_OTHER;
}

static bool mmapped(const struct story_block *b)
{
	return b->layout & GT_LAYOUT_MMAPPED;
}

static bool not_mmapped(const struct story_block *b)
{
	return libc(b) && !mmapped(b);
}

static bool marker_two(const struct story_block *b)
{
	return b->alloc >= story->stamp * 2 / 4 &&
	       b->alloc < story->stamp * 3 / 4;
}

static bool chain_length_min(const struct story_block *b)
{
	return of_chain(b, false)->position >= 3;
}

static bool chain_length_max(const struct story_block *b)
{
	return of_chain(b, false)->position <= 2;
}

static bool chain_lifetime_min(const struct story_block *b)
{
	return (until_end(of_chain(b, false)) - of_chain(b, true)->alloc) *
	       STORY_TICK_NS >= 100000;
}

static bool chain_lifetime_max(const struct story_block *b)
{
	return (until_end(of_chain(b, false)) - of_chain(b, true)->alloc) *
	       STORY_TICK_NS <= 50000;
}

static bool chain_position_min(const struct story_block *b)
{
	return b->position >= 2;
}

static bool chain_position_max(const struct story_block *b)
{
	return b->position <= 2;
}

static bool first_size_min(const struct story_block *b)
{
	return of_chain(b, true)->size >= 100;
}

static bool first_size_max(const struct story_block *b)
{
	return of_chain(b, true)->size <= 200;
}

static bool last_size_min(const struct story_block *b)
{
	return of_chain(b, false)->size >= 100;
}

static bool last_size_max(const struct story_block *b)
{
	return of_chain(b, false)->size <= 200;
}

/* Nodes are numbered in the order of the trace. */
#define NODE(context) NODE_##context
#define NODE_3 "20"
#define NODE_7 "24"
_Static_assert(CONTEXT_ROOTS == 17, "as NODE has it");

static const struct {
	const char *words[4];	/* word, value, word, value */
	bool (*means)(const struct story_block *block);
} words[] = {
	{ { "from", "300us" }, from },
	{ { "to", "1100us" }, to },
	{ { "to", "@two" }, to_two },
	{ { "to", "50%" }, to_two },
	{ { "alive-at", "400us" }, alive },
	{ { "alive-at", "100%" }, alive_last },
	{ { "alive-at", "400us", "alive-at", "@one" }, alive_either },
	{ { "alive-at-2", "600us" }, alive_2 },
	{ { "size-min", "300" }, size_min },
	{ { "size-min", "4000", "size-min", "300" }, size_min },
	{ { "size-max", "2k" }, size_max },
	{ { "lifetime-min", "20us" }, lifetime_min },
	{ { "lifetime-max", "90010ns" }, lifetime_max },
	{ { "fate", "live" }, is_live },
	{ { "fate", "freed" }, is_freed },
	{ { "fate", "temporary" }, is_temporary },
	{ { "fate", "chain-live" }, chain_live },
	{ { "fate", "group-live" }, group_live },
	{ { "fate", "live", "fate", "temporary" }, live_or_temporary },
	{ { "fate", "group-live", "fate", "temporary" },
	  group_live_or_temporary },
	{ { "free-context", NODE(3) }, freed_by_3 },
	{ { "free-context", NODE(3), "free-context", NODE(7) },
	  freed_by_3_or_7 },
	{ { "free-context", "5000000000" }, none },
	{ { "thread", "101" }, thread_1 },
	{ { "thread", "^t[02]$" }, threads_0_2 },
	{ { "thread", "t0", "thread", "102" }, threads_0_2 },
	{ { "process", "77" }, all },
	{ { "process", "story$" }, all },
	{ { "process", "78" }, none },
	{ { "address-min", "0x10400" }, address_min },
	{ { "address-max", "0x11000" }, address_max },
	{ { "allocator", "libc" }, libc },
	{ { "allocator", "other" }, other_allocator },
	{ { "arena", "main" }, main_arena },
	{ { "arena", "other" }, other_arena },
	{ { "mmapped", "yes" }, mmapped },
	{ { "mmapped", "no" }, not_mmapped },
	{ { "marker", "two" }, marker_two },
	{ { "chain-length-min", "3" }, chain_length_min },
	{ { "chain-length-max", "2" }, chain_length_max },
	{ { "chain-lifetime-min", "100us" }, chain_lifetime_min },
	{ { "chain-lifetime-max", "50us" }, chain_lifetime_max },
	{ { "chain-position-min", "2" }, chain_position_min },
	{ { "chain-position-max", "2" }, chain_position_max },
	{ { "first-size-min", "100" }, first_size_min },
	{ { "first-size-max", "200" }, first_size_max },
	{ { "last-size-min", "100" }, last_size_min },
	{ { "last-size-max", "200" }, last_size_max },
};
#define WORDS (sizeof(words) / sizeof(words[0]))

/* ---- ---- */

static struct story_figures of_context(const struct model *model,
				       uint32_t context)
{
	uint32_t node = contexts_node((struct contexts *)model_contexts(model),
				      GT_STOP_COUNT + context);
	uint32_t cost = model_contexts(model)->node_cost[node];
	const struct context_cost *c;
	enum measure freed;
	struct figures f;

	assert_true(figures_find("freed", &freed));
	if (cost == CONTEXT_NO_COST)
		return (struct story_figures){ 0 };
	c = &model_contexts(model)->costs[cost];
	model_figures(model, c, &f);
	assert_true(fabs(f.lifetime_ns - c->lifetime * STORY_TICK_NS) < 1);
	assert_int_equal(f.own_peak_ns, c->own_peak_stamp * STORY_TICK_NS);
	return (struct story_figures){
		f.count, f.total_bytes, f.frees, f.temporary, f.live_blocks,
		f.live_bytes, f.peak_blocks, f.peak_bytes, f.own_peak_blocks,
		f.own_peak_bytes, c->own_peak_stamp, c->first, c->last,
		c->lifetime, figures_value(&f, freed, 0),
	};
}

static void compare(const struct model *model, const bool *wanted,
		    bool at_moment)
{
	uint64_t count = 0, peak = 0, live = 0, at = 0;

	for (uint32_t i = 0; i < STORY_CONTEXTS; i++) {
		struct story_figures is = of_context(model, i);
		struct story_figures must =
			story_figures(story, wanted, story_context, i, 1);

		if (at_moment) {
			must.live_blocks = must.count;
			must.live_bytes = must.total_bytes;
			must.freed_bytes = 0;
		}
		count += must.count;
		peak += must.peak_bytes;
		live += must.live_bytes;
		assert_int_equal(is.count, must.count);
		assert_memory_equal(&is, &must, sizeof(is));
	}
	assert_int_equal(model_totals(model)->allocations, count);
	assert_int_equal(model_totals(model)->peak_bytes, peak);
	assert_int_equal(model_totals(model)->live_bytes, live);
	assert_int_equal(model_totals_of_all(model)->allocations, story->count);
	for (count = 0; model_next_block(model, &at) != NULL;)
		count++;
	assert_int_equal(count, model_totals(model)->live_blocks);
}

static void take(struct filter *filter, size_t i)
{
	const char *const *w = words[i].words;

	assert_int_equal(filter_take_word(filter, w[0], w[1]), 0);
	if (w[2] != NULL)
		assert_int_equal(filter_take_word(filter, w[2], w[3]), 0);
}

static void check(const struct filter *filter, const bool *wanted)
{
	const struct model_options options = { .filter = filter,
					       .temporary = 1 };
	struct model *model = model_new(&options, NULL);

	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	compare(model, wanted,
		filter_word(filter, FILTER_ALIVE_AT, 0) != NULL);
	model_free(model);
}

static void each_word(void **state)
{
	static bool wanted[STORY_STEPS];

	(void)state;
	for (unsigned seed = 1; seed <= 2; seed++) {
		story = story_new(seed);
		story->free_stacks = true;
		story_write(story, NULL);
		for (size_t i = 0; i < WORDS; i++) {
			struct filter *filter = filter_new(NULL);

			take(filter, i);
			for (uint32_t b = 0; b < story->count; b++)
				wanted[b] = words[i].means(&story->blocks[b]);
			check(filter, wanted);
			filter_free(filter);
		}
		story_free(story);
	}
}

/* Different words: all of them. */
static void words_together(void **state)
{
	static bool wanted[STORY_STEPS];

	(void)state;
	for (unsigned seed = 10; seed < 60; seed++) {
		struct filter *filter = filter_new(NULL);
		size_t a, b;

		story = story_new(seed);
		story->free_stacks = true;
		story_write(story, NULL);
		do {
			a = (size_t)rand() % WORDS;
			b = (size_t)rand() % WORDS;
		} while (strcmp(words[a].words[0], words[b].words[0]) == 0);
		take(filter, a);
		take(filter, b);
		for (uint32_t i = 0; i < story->count; i++)
			wanted[i] = words[a].means(&story->blocks[i]) &&
				    words[b].means(&story->blocks[i]);
		check(filter, wanted);
		filter_free(filter);
		story_free(story);
	}
}

/* Moments at which something happens: a block that is freed then is not alive
 * any more, one that is allocated then is; `to` is before, `from` is not. */
static void exact_moments(void **state)
{
	static bool wanted[STORY_STEPS];
	const char *const names[] = { "alive-at", "from", "to" };

	(void)state;
	story = story_new(3);
	story_write(story, NULL);
	for (unsigned i = 0; i < 30; i++) {
		const struct story_block *block =
			&story->blocks[story->count / 40 * (i + 1)];
		uint64_t at = i % 2 == 0 || block->end == STORY_LIVE ?
			block->alloc : block->end;
		struct filter *filter = filter_new(NULL);
		char value[32];

		snprintf(value, sizeof(value), "%lluns",
			 (unsigned long long)at * STORY_TICK_NS);
		filter_take_word(filter, names[i % 3], value);
		for (uint32_t b = 0; b < story->count; b++)
			wanted[b] = i % 3 == 0 ?
				alive_at(&story->blocks[b], at) :
				(story->blocks[b].alloc >= at) == (i % 3 == 1);
		check(filter, wanted);
		filter_free(filter);
	}
	story_free(story);
}

static void unknown_names(void **state)
{
	struct filter *filter = filter_new(NULL);
	const struct model_options options = { .filter = filter };
	struct model *model = model_new(&options, NULL);

	(void)state;
	story = story_new(1);
	story_write(story, NULL);
	assert_int_equal(filter_take_word(filter, "from", "@never"), 0);
	assert_int_equal(model_read(model, story->path), EXIT_NOTHING);
	model_free(model);
	filter_free(filter);
	story_free(story);
}

static size_t bytes_with(const char *word, const char *value)
{
	struct filter *filter = filter_new(NULL);
	const struct model_options options = { .filter = filter };
	struct model *model = model_new(&options, NULL);
	struct mallinfo2 memory;

	assert_int_equal(filter_take_word(filter, word, value), 0);
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	assert_true(model_totals(model)->allocations > 0);
	memory = mallinfo2();
	model_free(model);
	filter_free(filter);
	return memory.uordblks + memory.hblkhd;
}

/* A sample leaves out what lies between its blocks: nobody knows how many, and
 * each takes a bit all the same. */
static void ends_of_a_sample(void **state)
{
	size_t before, with_ends;

	(void)state;
	story = story_new(7);
	story_write(story, "1000");
	before = bytes_with("size-min", "0");
	with_ends = bytes_with("fate", "freed");
	assert_true(story->count > 1500);
	assert_in_range(with_ends, 0, before + (128 << 10));
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word),
		cmocka_unit_test(words_together),
		cmocka_unit_test(exact_moments),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(ends_of_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
