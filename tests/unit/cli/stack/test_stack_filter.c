/*
 * test_stack_filter.c: the words of a filter that are about stacks, one by
 * one and together, on stacks of which each word fits only some.
 *
 *	1: main                4 blocks, all live
 *	2: main parse          3 blocks, 1 live
 *	3: main parse alloc    2 blocks, none live
 *	4: main alloc alloc    1 block, live
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "cli/stack/stack_filter.h"
#include "tests/unit/filter_words.h"
#include "tests/unit/model_feed.h"

#define CONTEXTS 4

static struct model *model;
static struct frames frames;

static const char names[] = "1000 100 main\n2000 100 parse\n3000 100 alloc\n";

static const struct trace_node nodes[CONTEXTS + 1] = {
	{ 20, GT_STOP_BOTTOM, 0x1008 },
	{ 21, 20, 0x2008 },
	{ 22, 21, 0x3008 },
	{ 24, 20, 0x3010 },	/* allocates nothing itself */
	{ 23, 24, 0x3018 },
};
static const uint32_t ids[CONTEXTS] = { 20, 21, 22, 23 };
static const unsigned blocks[CONTEXTS] = { 4, 3, 2, 1 };
static const unsigned live[CONTEXTS] = { 4, 1, 0, 1 };

static void allocate(uint64_t stamp, uint32_t context, bool is_live)
{
	struct trace_event events[2] = {
		{ .stamp = stamp, .address = stamp * 16, .size = 10,
		  .context = context, .kind = GT_ALLOC },
		{ .stamp = stamp + 1, .address = stamp * 16, .kind = GT_FREE },
	};

	model_events(model, model_lane(1, false), events, is_live ? 1 : 2);
}

static int make(void **state)
{
	struct debugfile_places places = { 0 };

	(void)state;
	model = model_new(NULL, NULL);
	feed_sync(model, 0, 0);
	feed_sync(model, 1000000000, 1000000000);
	feed_thread(model, 0, 0);
	feed_names(model, names);
	for (size_t i = 0; i < CONTEXTS + 1; i++)
		feed_node(model, nodes[i].id, nodes[i].parent,
			  nodes[i].address);
	for (uint32_t c = 0; c < CONTEXTS; c++)
		for (uint64_t i = 0; i < blocks[c]; i++)
			allocate(c * 1000000 + i * 100000 + 10, ids[c],
				 i < live[c]);
	model_finish(model);
	frames_init(&frames, model, &places, false);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	frames_free(&frames);
	model_free(model);
	return 0;
}

/* Which contexts are kept, as digits, by words up to a NULL. */
static const char *kept(const char *const *words)
{
	static char text[CONTEXTS + 1];
	struct filter *filter = filter_new(NULL);
	struct stack_filter *stacks;
	size_t count = 0;

	for (; *words != NULL; words += 2)
		assert_int_equal(filter_take_word(filter, words[0], words[1]),
				 0);
	stacks = stack_filter_new(filter, &frames);
	assert_non_null(stacks);
	for (uint32_t c = 0; c < CONTEXTS; c++)
		if (stack_filter_keeps(stacks, model_node(model, ids[c]), NULL))
			text[count++] = (char)('1' + c);
	text[count] = 0;
	stack_filter_free(stacks);
	filter_free(filter);
	return text;
}

#define KEPT(wanted, ...)						\
	assert_string_equal(kept((const char *const[]){ __VA_ARGS__, NULL }), \
			    wanted)

static void test_frames(void **state)
{
	(void)state;
	KEPT("1234", NULL);
	KEPT("1234", "function", "^main$");
	KEPT("23", "function", "parse");
	KEPT("34", "function", "^al+oc");
	KEPT("234", "function", "parse", "function", "alloc");
	KEPT("", "function", "nothing");
	KEPT("14", "not-function", "parse");
	KEPT("1", "not-function", "parse", "not-function", "alloc");
	KEPT("2", "function", "parse", "not-function", "alloc");
	/* nothing here has a file, or lies in a library */
	KEPT("", "source", ".");
	KEPT("1234", "not-source", ".");
	KEPT("", "library", ".");
	KEPT("1234", "not-library", ".");
}

static void test_passing(void **state)
{
	(void)state;
	KEPT("234", "passes-through", "main");
	KEPT("3", "passes-through", "parse");
	KEPT("4", "passes-through", "alloc");
	KEPT("34", "passes-through", "alloc", "passes-through", "parse");
}

static void test_limits(void **state)
{
	(void)state;
	KEPT("234", "depth-min", "2");
	KEPT("34", "depth-min", "3");
	KEPT("12", "depth-max", "2");
	KEPT("2", "depth-min", "2", "depth-max", "2");
	KEPT("234", "depth-min", "3", "depth-min", "2");
	KEPT("12", "group-count-min", "3");
	KEPT("34", "group-count-max", "2");
	KEPT("124", "group-live-min", "1");
	KEPT("3", "group-live-max", "0");
	/* between the first and the last allocation: 300, 200, 100, 0 us */
	KEPT("12", "group-interval-min", "150us");
	KEPT("34", "group-interval-max", "150us");
	/* the last live block's allocation: about 300, 1000, 2000, 3000 us */
	KEPT("234", "group-peak-time-min", "900us");
	KEPT("1", "group-peak-time-max", "900us");
	KEPT("23", "function", "parse", "group-count-max", "3");
}

static void test_context(void **state)
{
	char node[16];

	(void)state;
	snprintf(node, sizeof(node), "%u",
		 model_node(model, ids[2]));
	KEPT("3", "context", node);
	KEPT("", "context", "4000000000");
}

/*
 * Stacks whose outer frames are missing: words may be true of these.
 *
 *	20: main parse		2 blocks
 *	22: (missing) parse	3 blocks
 *	23: (missing) alloc	1 block
 */
static const struct trace_node cut_nodes[] = {
	{ 20, GT_STOP_BOTTOM, 0x1008 }, { 21, 20, 0x2008 },
	{ 22, GT_STOP_NO_RULE, 0x2008 }, { 23, GT_STOP_DEPTH, 0x3008 },
};
static const struct {
	const char *words[5];
	uint64_t selected, not_selected, undecidable;
} cut_cases[] = {
	{ { "function", "^main$" }, 2, 0, 4 },
	{ { "function", "^parse$" }, 5, 0, 1 },
	{ { "function", "nothing" }, 0, 2, 4 },
	{ { "not-function", "^parse$" }, 1, 5, 0 },
	{ { "not-function", "^alloc$" }, 5, 1, 0 },
	{ { "library", "x" }, 0, 2, 4 },
	{ { "passes-through", "^main$" }, 2, 0, 4 },
	{ { "depth-min", "1" }, 6, 0, 0 },
	{ { "depth-min", "2" }, 2, 0, 4 },
	{ { "depth-min", "3" }, 0, 2, 4 },
	{ { "depth-max", "1" }, 4, 2, 0 },
	{ { "depth-min", "2", "depth-max", "2" }, 2, 0, 4 },
	{ { "function", "^main$", "not-function", "^parse$" }, 0, 5, 1 },
	{ { "function", "^main$", "group-count-min", "2" }, 2, 1, 3 },
	{ { "function", "^main$", "context", "4000000000" }, 0, 6, 0 },
	{ { "group-count-min", "2" }, 5, 1, 0 },
};

static void judge_case(struct model *some, struct frames *of, size_t number)
{
	const char *const *word = cut_cases[number].words;
	struct filter *filter = filter_new(NULL);
	struct stack_filter *stacks;
	struct coverage coverage;

	for (; *word != NULL; word += 2)
		assert_int_equal(filter_take_word(filter, word[0], word[1]),
				 0);
	stacks = stack_filter_new(filter, of);
	stack_filter_coverage(stacks, some, &coverage);
	assert_int_equal(coverage.selected.allocations,
			 cut_cases[number].selected);
	assert_int_equal(coverage.not_selected.allocations,
			 cut_cases[number].not_selected);
	assert_int_equal(coverage.undecidable.allocations,
			 cut_cases[number].undecidable);
	assert_int_equal(coverage.cut.allocations,
			 cut_cases[number].undecidable);
	stack_filter_free(stacks);
	stack_filter_coverage(NULL, some, &coverage);
	assert_int_equal(coverage.selected.allocations, 6);
	filter_free(filter);
}

static void test_cut(void **state)
{
	static const uint32_t ids_of[] = { 21, 21, 22, 22, 22, 23 };
	struct model *some = model_new(NULL, NULL);
	struct debugfile_places places = { 0 };
	struct frames of;

	(void)state;
	feed_names(some, names);
	for (size_t i = 0; i < sizeof(cut_nodes) / sizeof(cut_nodes[0]); i++)
		feed_node(some, cut_nodes[i].id, cut_nodes[i].parent,
			  cut_nodes[i].address);
	for (size_t i = 0; i < sizeof(ids_of) / sizeof(ids_of[0]); i++) {
		const struct trace_event event = {
			.stamp = i + 1, .address = 16 * (i + 1), .size = 1,
			.context = ids_of[i], .kind = GT_ALLOC,
		};

		model_events(some, model_lane(0, false), &event, 1);
	}
	model_finish(some);
	frames_init(&of, some, &places, false);
	for (size_t i = 0; i < sizeof(cut_cases) / sizeof(cut_cases[0]); i++)
		judge_case(some, &of, i);
	frames_free(&of);
	model_free(some);
}

static void test_wrong(void **state)
{
	struct filter *filter = filter_new(NULL);

	(void)state;
	assert_int_equal(filter_take_word(filter, "function", "(a"),
			 -ECANCELED);
	assert_int_equal(filter_take_word(filter, "depth-min", "x"), -EINVAL);
	assert_int_equal(filter_take_word(filter, "group-peak-time-min",
					  "@none"), 0);
	assert_null(stack_filter_new(filter, &frames));
	filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
