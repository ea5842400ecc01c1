/*
 * test_chain_gaps.c: realloc chains of which the trace does not have all
 * blocks: what its EXTRAs say of them, and what makes no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/model/core/chains.h"
#include "tests/unit/model_feed.h"

#define FIRST GT_STOP_COUNT	/* contexts: of the chain's first block, */
#define OTHER (FIRST + 1)	/* and of others */
#define EVENTS 32

static struct model *model;
static struct trace_event events[EVENTS];
static uint64_t args[EVENTS][GT_EXTRA_ARGS];
static size_t count;

static void begin(unsigned wants)
{
	const struct model_options options = { .wants = wants };

	count = 0;
	memset(args, 0, sizeof(args));
	model = model_new(&options, NULL);
	feed_node(model, FIRST, 0, 0x1000);
	feed_node(model, OTHER, 0, 0x2000);
}

static int start(void **state)
{
	(void)state;
	begin(MODEL_WANT_CHAINS);
	return 0;
}

static int end(void **state)
{
	(void)state;
	model_free(model);
	return 0;
}

static void put(unsigned kind, uint64_t stamp, uint64_t address, uint64_t size)
{
	assert_true(count < EVENTS);
	events[count++] = (struct trace_event){
		.kind = (uint8_t)kind, .stamp = stamp, .address = address,
		.size = size, .context = OTHER,
	};
}

static void put_extra(enum gt_extra what, uint64_t stamp, uint64_t size,
		      uint64_t number, uint64_t counts, uint64_t age,
		      uint64_t copied)
{
	uint64_t *to = args[count];

	to[0] = number;
	to[1] = counts;
	to[2] = age;
	to[3] = copied;
	put(GT_EXTRA, stamp, 0, size);
	events[count - 1].what = (uint8_t)what;
	events[count - 1].context = FIRST;
	events[count - 1].args = to;
}

/* A block that is reallocated to one of another size at another place. */
static void put_realloc(uint64_t stamp, uint64_t from, uint64_t to,
			uint64_t size)
{
	put(GT_REALLOC_BEGIN, stamp, from, 0);
	put(to == 0 ? GT_REALLOC_FREED : GT_REALLOC_DONE, stamp, to ? to : from,
	    to ? size : 0);
}

/* All that was put, `at_once` events at a time. */
static void read_all(size_t at_once)
{
	for (size_t i = 0; i < count; i += at_once)
		model_events(model, 0, &events[i],
			     count - i < at_once ? count - i : at_once);
	model_finish(model);
#ifdef GNOMON_DEBUG_ASSERTS
	assert_true(chains_is_valid(model_chains(model)));
#endif
}

static struct chain_figures figures_of(uint32_t context)
{
	struct chain_figures figures;

	chains_of(model_chains(model), fed_number(model, context), &figures);
	return figures;
}

static void equal(const struct chain_figures *is,
		  const struct chain_figures *must)
{
	assert_int_equal(is->count, must->count);
	assert_int_equal(is->live, must->live);
	assert_int_equal(is->blocks, must->blocks);
	assert_int_equal(is->longest, must->longest);
	assert_int_equal(is->first_bytes, must->first_bytes);
	assert_int_equal(is->last_bytes, must->last_bytes);
	assert_int_equal(is->largest, must->largest);
	assert_int_equal(is->moves, must->moves);
	assert_int_equal(is->copied_bytes, must->copied_bytes);
	assert_true(is->lifetime == must->lifetime);
}

static const size_t steps[] = { 1, 2, 3, EVENTS };

/* Four blocks were left out before the one that is there, and moved once more
 * behind it. However events are handed out. */
static void what_was_before(void **state)
{
	const struct chain_figures must = {
		.count = 1, .blocks = 6, .longest = 6, .first_bytes = 10,
		.last_bytes = 200, .largest = 200, .moves = 4,
		.copied_bytes = 170, .lifetime = 130,
	};
	struct chain_figures is;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put_extra(GT_EXTRA_CHAIN_RESUMES, 100, 10, 7,
			  chain_gap_counts(4, 3), 30, 70);
		put(GT_ALLOC, 100, 0x100, 100);
		put_realloc(150, 0x100, 0x200, 200);
		put(GT_FREE, 200, 0x200, 0);
		read_all(steps[i]);
		is = figures_of(FIRST);
		equal(&is, &must);
		equal(&model_chains(model)->whole, &must);
		end(state);
		start(state);
	}
}

/* The chain that is there goes on: it is not counted twice. */
static void what_was_between(void **state)
{
	const struct chain_figures must = {
		.count = 1, .blocks = 5, .longest = 5, .first_bytes = 10,
		.last_bytes = 50, .largest = 50, .moves = 4,
		.copied_bytes = 100, .lifetime = 80,
	};
	struct chain_figures is;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put(GT_ALLOC, 20, 0x100, 10);
		put_realloc(30, 0x100, 0x200, 20);
		put(GT_REALLOC_BEGIN, 40, 0x200, 0);
		put_extra(GT_EXTRA_CHAIN_LEAVES, 40, 0, 3, 0, 0, 0);
		put(GT_REALLOC_FREED, 40, 0x200, 0);
		put_extra(GT_EXTRA_CHAIN_RESUMES, 60, 10, 3,
			  chain_gap_counts(4, 4), 40, 100);
		put(GT_ALLOC, 60, 0x500, 50);
		put(GT_FREE, 100, 0x500, 0);
		read_all(steps[i]);
		/* by the context of the block that is there */
		is = figures_of(OTHER);
		equal(&is, &must);
		equal(&model_chains(model)->whole, &must);
		end(state);
		start(state);
	}
}

/* The last ones were left out; the first one is a chain only by them. */
static void what_came_after(void **state)
{
	const struct chain_figures must = {
		.count = 1, .blocks = 3, .longest = 3, .first_bytes = 10,
		.last_bytes = 30, .largest = 30, .moves = 1,
		.copied_bytes = 10, .lifetime = 80,
	};

	(void)state;
	put(GT_ALLOC, 20, 0x100, 10);
	put(GT_REALLOC_BEGIN, 40, 0x100, 0);
	put_extra(GT_EXTRA_CHAIN_LEAVES, 40, 0, UINT64_MAX, 0, 0, 0);
	put(GT_REALLOC_FREED, 40, 0x100, 0);
	put_extra(GT_EXTRA_CHAIN_ENDS, 100, 30, UINT64_MAX,
		  chain_gap_counts(3, 1), 0, 10);
	put(GT_ALLOC, 120, 0x100, 10);
	read_all(EVENTS);
	equal(&model_chains(model)->whole, &must);
}

/* Whoever left them out was killed: the chain is as far as it is known. */
static void never_ended(void **state)
{
	(void)state;
	put(GT_ALLOC, 20, 0x100, 10);
	put_realloc(30, 0x100, 0x200, 20);
	put(GT_REALLOC_BEGIN, 40, 0x200, 0);
	put_extra(GT_EXTRA_CHAIN_LEAVES, 40, 0, 3, 0, 0, 0);
	put(GT_REALLOC_FREED, 40, 0x200, 0);
	put(GT_ALLOC, 90, 0x900, 10);
	read_all(2);
	assert_int_equal(model_chains(model)->whole.count, 1);
	assert_int_equal(model_chains(model)->whole.blocks, 2);
	assert_int_equal(model_chains(model)->whole.live, 0);
	assert_true(model_chains(model)->whole.lifetime == 70);
}

/* They mean nothing without the event that they are about. */
static void notes_without_an_event(void **state)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put_extra(GT_EXTRA_CHAIN_ENDS, 1, 30, 9, 3, 0, 10);
		put_extra(GT_EXTRA_CHAIN_RESUMES, 2, 10, 7, 4, 30, 70);
		put_extra(GT_EXTRA_MALLOPT, 3, 0, 0, 0, 0, 0);
		put(GT_ALLOC, 4, 0x100, 100);
		put_extra(GT_EXTRA_CHAIN_LEAVES, 5, 0, 7, 0, 0, 0);
		put(GT_FREE, 6, 0x100, 0);
		put_extra(GT_EXTRA_CHAIN_RESUMES, 7, 10, 7, 4, 3, 70);
		put(GT_FREE, 8, 0x200, 0);
		put(GT_ALLOC, 9, 0x300, 5);
		put_extra(GT_EXTRA_CHAIN_RESUMES, 10, 10, 0, 4, 3, 70);
		put(GT_ALLOC, 10, 0x400, 5);
		put_extra(GT_EXTRA_CHAIN_RESUMES, 11, 10, 5, 4, 3, 70);
		read_all(steps[i]);
		assert_int_equal(model_chains(model)->whole.count, 0);
		assert_int_equal(model_totals(model)->allocations, 3);
		assert_int_equal(model_totals(model)->unpaired, 1);
		end(state);
		start(state);
	}
}

/* Numbers that cannot be: more moves than blocks, none, an age from before all
 * time; a number that is used twice. */
static void impossible_numbers(void **state)
{
	(void)state;
	put_extra(GT_EXTRA_CHAIN_RESUMES, 50, UINT64_MAX, 7, UINT64_MAX,
		  UINT64_MAX, UINT64_MAX);
	put(GT_ALLOC, 50, 0x100, 100);
	put(GT_FREE, 60, 0x100, 0);
	put_extra(GT_EXTRA_CHAIN_RESUMES, 70, 1, 8, UINT64_C(9) << 32, 10, 5);
	put(GT_ALLOC, 70, 0x200, 100);
	put(GT_REALLOC_BEGIN, 80, 0x200, 0);
	put_extra(GT_EXTRA_CHAIN_LEAVES, 80, 0, 8, 0, 0, 0);
	put(GT_REALLOC_FREED, 80, 0x200, 0);
	put(GT_ALLOC, 90, 0x300, 100);
	put(GT_REALLOC_BEGIN, 95, 0x300, 0);
	put_extra(GT_EXTRA_CHAIN_LEAVES, 95, 0, 8, 0, 0, 0);
	put(GT_REALLOC_FREED, 95, 0x300, 0);
	put_extra(GT_EXTRA_CHAIN_ENDS, 96, 3, 8, 1, 0, 0);
	put_extra(GT_EXTRA_CHAIN_ENDS, 97, 3, 8, 5, 0, 0);
	read_all(EVENTS);
	assert_int_equal(model_chains(model)->whole.count, 2);
	assert_int_equal(model_chains(model)->whole.longest,
			 UINT64_C(1) + UINT32_MAX);
	assert_true(model_chains(model)->whole.moves <=
		    model_chains(model)->whole.blocks);
	/* the second: one block before, of which nothing was a move */
	assert_int_equal(model_chains(model)->whole.blocks,
			 UINT64_C(3) + UINT32_MAX);
	assert_true(model_chains(model)->whole.lifetime == 60 + 35);
}

/* Who does not ask for chains does not see them. */
static void not_asked_for(void **state)
{
	model_free(model);
	begin(0);
	(void)state;
	put_extra(GT_EXTRA_CHAIN_RESUMES, 50, 10, 7, 4, 3, 70);
	put(GT_ALLOC, 50, 0x100, 100);
	put_extra(GT_EXTRA_CHAIN_LEAVES, 60, 0, 8, 0, 0, 0);
	read_all(2);
	assert_int_equal(model_totals(model)->allocations, 1);
	assert_int_equal(model_chains(model)->count, 0);
	assert_int_equal(model_chains(model)->note_count, 0);
}

/* Chains of which nothing is there add up; numbers that cannot be do no harm. */
static void left_out_rows(void **state)
{
	struct trace_totals row = { .context = FIRST, .value = {
		[GT_CHAINS_COUNT] = 2, [GT_CHAINS_BLOCKS] = 9,
		[GT_CHAINS_LONGEST] = 5, [GT_CHAINS_FIRST_BYTES] = 30,
		[GT_CHAINS_LAST_BYTES] = 90, [GT_CHAINS_LARGEST] = 60,
		[GT_CHAINS_MOVES] = 7, [GT_CHAINS_COPIED_BYTES] = 100,
		[GT_CHAINS_LIFETIME] = 1000,
	} };
	const struct chain_figures must = {
		.count = 4, .blocks = 18, .longest = 5, .first_bytes = 60,
		.last_bytes = 180, .largest = 60, .moves = 14,
		.copied_bytes = 200, .lifetime = 2000,
	};
	const struct trace_control cleared = {
		.what = GT_CONTROL_CLEAR,
	};
	struct chain_figures is;

	feed_sink(model).chains(model, &row);
	feed_sink(model).chains(model, &row);
	read_all(EVENTS);
	is = figures_of(FIRST);
	equal(&is, &must);
	end(state);
	start(state);
	memset(row.value, 0xff, sizeof(row.value));
	feed_sink(model).chains(model, &row);
	row.value[GT_CHAINS_BLOCKS] = 0;
	feed_sink(model).chains(model, &row);
	feed_sink(model).control(model, &cleared);
	feed_sink(model).chains(model, &row);
	memset(row.value, 0xff, sizeof(row.value));
	row.context = 4000000000u;
	feed_sink(model).chains(model, &row);
	read_all(EVENTS);
	assert_true(model_chains(model)->whole.count <=
		    model_chains(model)->whole.blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_before, start, end),
		cmocka_unit_test_setup_teardown(what_was_between, start, end),
		cmocka_unit_test_setup_teardown(what_came_after, start, end),
		cmocka_unit_test_setup_teardown(never_ended, start, end),
		cmocka_unit_test_setup_teardown(notes_without_an_event, start,
						end),
		cmocka_unit_test_setup_teardown(impossible_numbers, start,
						end),
		cmocka_unit_test_setup_teardown(not_asked_for, start, end),
		cmocka_unit_test_setup_teardown(left_out_rows, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
