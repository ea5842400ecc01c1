/*
 * test_model_apply.c: events that make no sense: whatever comes, sums agree
 * with each other, and the plain way of counting, the special one, and a filter
 * that lets everything pass come to the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/threads.h"
#include "cli/model/filters.h"
#include "cli/model/model_state.h"
#include "cli/model/stats/figures.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

#define EVENTS 4000
#define LANES 4

static struct trace_event events[EVENTS];
static uint32_t lanes[EVENTS];

/* On few addresses, out of order within the window and beyond it. */
static void make_nonsense(unsigned seed)
{
	static const uint8_t kinds[] = {
		GT_ALLOC, GT_ALLOC, GT_ALLOC, GT_FREE, GT_FREE,
		GT_REALLOC_BEGIN, GT_REALLOC_BEGIN, GT_REALLOC_DONE,
		GT_REALLOC_DONE, GT_REALLOC_FAILED, GT_REALLOC_FREED,
	};
	uint64_t stamp = 10000;

	srand(seed);
	for (unsigned i = 0; i < EVENTS; i++) {
		stamp += (uint64_t)rand() % 40;
		events[i] = (struct trace_event){
			.stamp = stamp - (uint64_t)rand() % (seed % 5 * 50 + 1),
			.address = (uint64_t)(rand() % 12) * 16,
			.kind = kinds[(unsigned)rand() % sizeof(kinds)],
		};
		if (events[i].kind == GT_ALLOC ||
		    events[i].kind == GT_REALLOC_DONE) {
			events[i].size = rand() % 50 == 0 ? UINT64_MAX / 3 :
				(uint64_t)rand() % 100;
			events[i].context = (uint32_t)rand() % 8;
		}
		lanes[i] = (uint32_t)rand() % LANES;
	}
}

static struct model *apply(unsigned wants)
{
	const struct model_options options = { .wants = wants };
	struct model *model = model_new(&options, NULL);
	struct trace_thread thread = { .what = GT_THREAD_START, .name = "" };

	model->edges.waiting.window = 100;
	thread.tid = 1;
	threads_record(&model->threads, &thread);
	for (unsigned i = 0; i < EVENTS; i++)
		model_events(model, lanes[i], &events[i], 1);
	model_finish(model);
	return model;
}

static void end(struct model *model)
{
	model_free(model);
}

/* I1 of edges.c, when no realloc is under way any more. */
static void nothing_moves(const struct model *model)
{
	const struct pending_reallocs *pending_reallocs =
		&model->edges.by_block;

	assert_int_not_equal(pending_reallocs->bits, 0);
	for (size_t i = 0; i < (size_t)1 << pending_reallocs->bits; i++)
		assert_int_equal(pending_reallocs->buckets[i], 0);
}

static void sums_agree(const struct model *model)
{
	uint64_t bytes = 0, blocks = 0, frees = 0, at = 0, peak = 0;
	const struct block *block;
	struct figures figures;

	for (size_t i = 0; i < model->contexts.cost_count; i++) {
		model_figures(model, &model->contexts.costs[i], &figures);
		bytes += figures.live_bytes;
		blocks += figures.live_blocks;
		frees += figures.frees;
		peak += figures.peak_bytes;
		assert_true(figures.own_peak_bytes >= figures.live_bytes);
	}
	assert_int_equal(bytes, model->totals.live_bytes);
	assert_int_equal(blocks, model->totals.live_blocks);
	assert_int_equal(frees, model->totals.frees);
	assert_int_equal(peak, model->totals.peak_bytes);
	assert_int_equal(blocks, model->edges.blocks.count);
	while ((block = model_next_block(model, &at)) != NULL) {
		bytes -= block->size;
		blocks--;
	}
	assert_int_equal(bytes, 0);
	assert_int_equal(blocks, 0);
}

/* Every chain is held by one block, or ended: none is left over. */
static void chains_agree(const struct model *model)
{
	const struct chains *chains = &model->chains;
	uint64_t held = 0, there = 0;

	for (size_t i = 1; i < chains->count; i++)
		there += chains->list[i].length > 0;
	for (size_t i = 0; i < chains->block_count; i++) {
		if (chains->by_block[i] == 0)
			continue;
		held++;
		assert_int_not_equal(model->edges.blocks.list[i].address, 0);
	}
	assert_int_equal(held, there);
	assert_int_equal(held, chains->whole.live);
}

static void same(const struct model *a, const struct model *b)
{
	assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
	assert_int_equal(a->contexts.cost_count, b->contexts.cost_count);
	assert_memory_equal(a->contexts.costs, b->contexts.costs,
			    a->contexts.cost_count *
			    sizeof(*a->contexts.costs));
	assert_memory_equal(a->histograms.sizes, b->histograms.sizes,
			    sizeof(a->histograms.sizes));
	assert_memory_equal(a->histograms.lifetimes, b->histograms.lifetimes,
			    sizeof(a->histograms.lifetimes));
}

static void nonsense(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 100; seed++) {
		struct model *plain, *special;

		make_nonsense(seed);
		plain = apply(0);
		special = apply(MODEL_WANT_CHAINS | MODEL_WANT_HISTOGRAMS |
				MODEL_WANT_TIMELINE);
		assert_false(plain->special);
		assert_true(special->special);
		sums_agree(plain);
		nothing_moves(plain);
		same(plain, special);
		chains_agree(special);
		end(plain);
		end(special);
	}
}

/* Fates, chains and all: whatever the deciding pass does with nonsense, all
 * fates together are all blocks. */
static void nonsense_decided(void **state)
{
	static struct trace_event of_ring[EVENTS];

	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		struct filter *filter = filter_new(NULL);
		struct model *plain = model_new(NULL, NULL);
		const struct model_options options = { .filter = filter };
		struct model *decided = model_new(&options, NULL);
		char path[] = "/tmp/gnomon-unit-XXXXXX";
		struct trace_write t;

		make_nonsense(seed);
		trace_write_begin(&t);
		trace_write_line(&t, GT_INFO, "window_ticks", "100");
		trace_write_sync(&t, 0);
		for (uint32_t ring = 0; ring < LANES; ring++) {
			size_t count = 0;
			uint64_t stamp = 0;

			for (unsigned i = 0; i < EVENTS; i++) {
				if (lanes[i] != ring)
					continue;
				of_ring[count] = events[i];
				if (of_ring[count].stamp < stamp)
					of_ring[count].stamp = stamp;
				stamp = of_ring[count++].stamp;
			}
			trace_write_events(&t, ring, 0, 0, of_ring, count, 0);
		}
		trace_write_sync(&t, events[EVENTS - 1].stamp + 1000);
		trace_write_line(&t, GT_END, "reason", "exit");
		trace_write_file(&t, path);
		filter_take_word(filter, "fate", "live");
		filter_take_word(filter, "fate", "freed");
		filter_take_word(filter, "chain-length-min", "1");
		assert_int_equal(model_read(plain, path), EXIT_COMPLETE);
		assert_int_equal(model_read(decided, path), EXIT_COMPLETE);
		assert_true(plain->totals.frees > 0);
		sums_agree(plain);
		nothing_moves(plain);
		assert_int_equal(decided->totals.allocations,
				 plain->totals.allocations);
		assert_int_equal(decided->totals.frees, plain->totals.frees);
		assert_int_equal(decided->totals.peak_bytes,
				 plain->totals.peak_bytes);
		assert_int_equal(decided->whole.live_bytes,
				 plain->totals.live_bytes);
		assert_int_equal(decided->whole.temporary,
				 plain->totals.temporary);
		end(plain);
		end(decided);
		filter_free(filter);
		buffer_free(&t.bytes);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense),
		cmocka_unit_test(nonsense_decided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
