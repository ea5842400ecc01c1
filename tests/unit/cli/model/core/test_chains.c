/*
 * test_chains.c: realloc chains by context, on random programs against
 * brute force, and where realloc ends in odd ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "tests/unit/model_feed.h"
#include "tests/unit/model_story.h"

static struct story *story;

static struct model *new_model(void)
{
	const struct model_options options = { .wants = MODEL_WANT_CHAINS };

	return model_new(&options, NULL);
}

static void end(struct model *model)
{
	model_free(model);
}

/* ---- brute force ---- */

struct known {
	uint64_t length, first_size, last_size, alloc, end;
	uint32_t context;
};

static void add(struct chain_figures *sum, const struct known *chain)
{
	bool live = chain->end == STORY_LIVE;
	const struct chain_figures one = {
		.count = 1, .live = live, .blocks = chain->length,
		.longest = chain->length, .first_bytes = chain->first_size,
		.last_bytes = chain->last_size, .largest = chain->last_size,
		.lifetime = (double)((live ? story->stamp : chain->end) -
				     chain->alloc),
	};

	if (chain->length > 1)
		chain_figures_add(sum, &one);
}

static void gather(struct chain_figures figures[STORY_CONTEXTS],
		   struct chain_figures *whole)
{
	static struct known known[STORY_STEPS];

	memset(known, 0, sizeof(known));
	for (uint32_t i = 0; i < story->count; i++) {
		const struct story_block *block = &story->blocks[i];
		struct known *chain = &known[block->chain];

		if (chain->length++ == 0) {
			chain->first_size = block->size;
			chain->alloc = block->alloc;
			chain->context = block->context;
		}
		chain->last_size = block->size;
		chain->end = block->end;
	}
	for (uint32_t i = 0; i < STORY_STEPS; i++) {
		add(&figures[known[i].context], &known[i]);
		add(whole, &known[i]);
	}
}

static void same(const struct chain_figures *is,
		 const struct chain_figures *must)
{
	assert_int_equal(is->count, must->count);
	assert_int_equal(is->live, must->live);
	assert_int_equal(is->blocks, must->blocks);
	assert_int_equal(is->longest, must->longest);
	assert_int_equal(is->first_bytes, must->first_bytes);
	assert_int_equal(is->last_bytes, must->last_bytes);
	assert_int_equal(is->largest, must->largest);
	assert_true(fabs(is->lifetime - must->lifetime) < 0.5);
}

static void random_chains(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 8; seed++) {
		struct chain_figures must[STORY_CONTEXTS] = { 0 };
		struct chain_figures whole = { 0 }, is;
		struct model *model = new_model();

		story = story_new(seed);
		story_write(story, NULL);
		assert_int_equal(model_read(model, story->path),
				 EXIT_COMPLETE);
		gather(must, &whole);
		assert_true(whole.count > 100 && whole.longest > 3 &&
			    whole.live > 0);
		same(&model_chains(model)->whole, &whole);
		for (uint32_t c = 0; c < STORY_CONTEXTS; c++) {
			chains_of(model_chains(model),
				  fed_number(model, GT_STOP_COUNT + c), &is);
			same(&is, &must[c]);
		}
		end(model);
		story_free(story);
	}
}

/* ---- one by one ---- */

static void event(struct model *model, uint32_t lane, unsigned kind,
		  uint64_t stamp, uint64_t address, uint64_t size)
{
	struct trace_event e = { .stamp = stamp, .address = address,
				 .size = size, .context = GT_STOP_COUNT,
				 .kind = (uint8_t)kind };

	model_events(model, lane, &e, 1);
}

/* The old address is in use again before realloc is known to be done. */
static void address_in_use_again(void **state)
{
	struct model *model = new_model();

	(void)state;
	event(model, 0, GT_ALLOC, 1000, 16, 10);
	event(model, 0, GT_REALLOC_BEGIN, 2000, 16, 0);
	event(model, 1, GT_ALLOC, 2010, 16, 7);
	event(model, 0, GT_REALLOC_DONE, 2020, 64, 30);
	event(model, 0, GT_REALLOC_BEGIN, 3000, 64, 0);
	event(model, 0, GT_REALLOC_DONE, 3020, 64, 50);
	event(model, 0, GT_FREE, 4000, 64, 0);
	event(model, 1, GT_FREE, 4010, 16, 0);
	model_finish(model);
	assert_int_equal(model_chains(model)->whole.count, 1);
	assert_int_equal(model_chains(model)->whole.longest, 3);
	assert_int_equal(model_chains(model)->whole.first_bytes, 10);
	assert_int_equal(model_chains(model)->whole.last_bytes, 50);
	assert_int_equal(model_chains(model)->whole.live, 0);
	assert_true(model_chains(model)->whole.lifetime == 3000);
	end(model);
}

/* The result's address is still live when it comes: its free is late. */
static void result_waits(void **state)
{
	struct model *model = new_model();

	(void)state;
	event(model, 0, GT_ALLOC, 1000, 16, 10);
	event(model, 1, GT_ALLOC, 1001, 64, 5);
	event(model, 0, GT_REALLOC_BEGIN, 2000, 16, 0);
	event(model, 0, GT_REALLOC_DONE, 2020, 64, 30);
	event(model, 1, GT_FREE, 2030, 64, 0);
	assert_int_equal(model_totals(model)->live_bytes, 30);
	event(model, 0, GT_FREE, 3000, 64, 0);
	model_finish(model);
	assert_int_equal(model_chains(model)->whole.count, 1);
	assert_int_equal(model_chains(model)->whole.blocks, 2);
	assert_int_equal(model_chains(model)->whole.last_bytes, 30);
	end(model);
}

/* In place, to another one, there from one mapping into another, back. */
static void what_is_copied(void **state)
{
	static const struct {
		uint64_t address, size;
		unsigned layout;
	} steps[] = {
		{ 16, 20, GT_LAYOUT_KNOWN },
		{ 64, 1000, GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED },
		{ 4096, 5000, GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED },
		{ 16, 300, GT_LAYOUT_KNOWN },
		{ 64, 30, 0 },
	};
	struct model *model = new_model();

	(void)state;
	event(model, 0, GT_ALLOC, 1000, 16, 10);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct trace_event e = {
			.stamp = 3000 + 100 * i, .address = steps[i].address,
			.size = steps[i].size, .context = GT_STOP_COUNT,
			.layout = steps[i].layout, .kind = GT_REALLOC_DONE,
		};

		event(model, 0, GT_REALLOC_BEGIN, 2990 + 100 * i,
		      i == 0 ? 16 : steps[i - 1].address, 0);
		model_events(model, 0, &e, 1);
	}
	model_finish(model);
	assert_int_equal(model_chains(model)->whole.moves, 4);
	assert_int_equal(model_chains(model)->whole.copied_bytes,
			 20 + 300 + 30);
	end(model);
}

/* Freed by realloc, failed, never ended: none of them makes a chain. */
static void no_chains(void **state)
{
	struct model *model = new_model();

	(void)state;
	event(model, 0, GT_ALLOC, 1000, 16, 10);
	event(model, 0, GT_REALLOC_BEGIN, 2000, 16, 0);
	event(model, 0, GT_REALLOC_FREED, 2020, 16, 0);
	event(model, 0, GT_ALLOC, 3000, 16, 10);
	event(model, 0, GT_REALLOC_BEGIN, 4000, 16, 0);
	event(model, 0, GT_REALLOC_FAILED, 4020, 16, 0);
	event(model, 0, GT_REALLOC_BEGIN, 5000, 16, 0);
	event(model, 1, GT_ALLOC, 5010, 16, 10);
	model_finish(model);
	assert_int_equal(model_chains(model)->whole.count, 0);
	assert_int_equal(model_totals(model)->live_blocks, 1);
	end(model);
}

static void broken_ones(void **state)
{
	struct chains chains = { 0 };
	struct block block = { .address = 16, .size = 1 };
	uint32_t first, second;

	(void)state;
	assert_true(chains_is_valid(&chains));
	first = chains_leave(&chains, 1, &block);
	chains_enter(&chains, first, 2, &block);
	second = chains_leave(&chains, 3, &block);
	assert_true(chains_is_valid(&chains));
	chains_end(&chains, second, 1, false);
	assert_true(chains_is_valid(&chains));
	/* one of a block that is free */
	chains.by_block[3] = second;
	assert_false(chains_is_valid(&chains));
	chains.by_block[3] = 0;
	/* held by two */
	chains.by_block[4] = first;
	assert_false(chains_is_valid(&chains));
	chains.by_block[4] = 0;
	/* neither free nor used */
	chains.unused = 0;
	assert_false(chains_is_valid(&chains));
	chains.unused = first;
	assert_false(chains_is_valid(&chains));
	chains.unused = second;
	assert_true(chains_is_valid(&chains));
	chains_free(&chains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_chains),
		cmocka_unit_test(address_in_use_again),
		cmocka_unit_test(result_waits),
		cmocka_unit_test(what_is_copied),
		cmocka_unit_test(no_chains),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
