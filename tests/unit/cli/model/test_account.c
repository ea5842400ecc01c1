/*
 * test_account.c: figures of contexts and of parts of them, sizes and
 * lifetimes, on random programs against brute force; samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "cli/base/terminal/log.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/contexts.h"
#include "cli/model/heap.h"
#include "cli/model/model_state.h"
#include "cli/model/stats/figures.h"
#include "cli/model/stats/histograms.h"
#include "tests/unit/model_story.h"

static struct story *story;
static bool all[STORY_STEPS];

static struct model *read_story(const struct model_options *options,
				const struct block_keys *keys)
{
	struct model *model = model_new(options, keys);

	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	return model;
}

static void end(struct model *model)
{
	model_free(model);
}

static void begin(unsigned seed)
{
	memset(all, true, sizeof(all));
	story = story_new(seed);
	assert_true(story->count > 1500);
	story_write(story, NULL);
}

static void same(const struct context_cost *cost, const struct model *model,
		 const struct story_figures *must)
{
	enum measure freed;
	struct figures f;

	model_figures(model, cost, &f);
	assert_true(figures_find("freed", &freed));
	assert_int_equal(figures_value(&f, freed, 0), must->freed_bytes);
	assert_int_equal(f.count, must->count);
	assert_int_equal(f.total_bytes, must->total_bytes);
	assert_int_equal(f.frees, must->frees);
	assert_int_equal(f.temporary, must->temporary);
	assert_int_equal(f.live_blocks, must->live_blocks);
	assert_int_equal(f.live_bytes, must->live_bytes);
	assert_int_equal(f.peak_blocks, must->peak_blocks);
	assert_int_equal(f.peak_bytes, must->peak_bytes);
	assert_int_equal(f.own_peak_blocks, must->own_peak_blocks);
	assert_int_equal(f.own_peak_bytes, must->own_peak_bytes);
	assert_int_equal(f.own_peak_ns, must->own_peak_stamp * STORY_TICK_NS);
	assert_int_equal(f.first_ns, must->first * STORY_TICK_NS);
	assert_int_equal(f.last_ns, must->last * STORY_TICK_NS);
	assert_true(fabs(f.lifetime_ns - must->lifetime * STORY_TICK_NS) < 1);
}

/* ---- contexts and their parts ---- */

static uint32_t context_of(const struct model *model, uint32_t node)
{
	/* defined in order, none twice */
	(void)model;
	return node - CONTEXT_ROOTS;
}

static uint64_t by_thread(const struct story_block *b)
{
	return (uint64_t)b->context << 32 | (b->thread + 1);
}

static uint64_t by_size(const struct story_block *b)
{
	return (uint64_t)b->context << 32 | b->size;
}

static uint64_t by_class(const struct story_block *b)
{
	return (uint64_t)b->context << 32 | histogram_bucket(b->size);
}

static uint64_t by_arena(const struct story_block *b)
{
	return (uint64_t)b->context << 32 | heap_part(b->layout);
}

/* (of these, none is larger than what its shift leaves it) */
static uint64_t by_three(const struct story_block *b)
{
	return (uint64_t)b->context << 32 | (uint64_t)(b->thread + 1) << 16 |
	       histogram_bucket(b->size) << 8 | heap_part(b->layout);
}

/* The same of a cost. */
static uint64_t key_of(const struct model *model,
		       const struct context_cost *cost)
{
	uint32_t v[BLOCK_KEYS_MAX];

	block_keys_values(&model->keys, cost->key, v);
	return model->keys.count < 3 ? v[0] : v[0] << 16 | v[1] << 8 | v[2];
}

static void check_keys(struct block_keys keys,
		       uint64_t (*key)(const struct story_block *))
{
	struct model_options options = { .temporary = 2 };
	struct model *model = read_story(&options, &keys);
	uint64_t count = 0;

	for (size_t i = 0; i < model->contexts.cost_count; i++) {
		const struct context_cost *cost = &model->contexts.costs[i];
		uint32_t context = context_of(model, cost->node);
		struct story_figures must =
			story_figures(story, all, key, keys.count ?
				      (uint64_t)context << 32 |
				      key_of(model, cost) : context, 2);

		assert_true(must.count > 0);
		same(cost, model, &must);
		count += must.count;
	}
	assert_int_equal(count, story->count);
	assert_int_equal(model->totals.allocations, story->count);
	end(model);
}

static void by_context_and_keys(void **state)
{
	(void)state;
	for (unsigned seed = 20; seed < 26; seed++) {
		begin(seed);
		check_keys((struct block_keys){ .count = 0 }, story_context);
		check_keys((struct block_keys){ .list = { BLOCK_KEY_THREAD }, .count = 1 },
			   by_thread);
		check_keys((struct block_keys){ .list = { BLOCK_KEY_ARENA }, .count = 1 },
			   by_arena);
		check_keys((struct block_keys){
			.list = { BLOCK_KEY_SIZE_CLASS }, .count = 1 },
			   by_class);
		check_keys((struct block_keys){ .list = { BLOCK_KEY_THREAD,
			   BLOCK_KEY_SIZE_CLASS, BLOCK_KEY_ARENA }, .count = 3 },
			   by_three);
		story_free(story);
	}
	begin(30);
	check_keys((struct block_keys){ .list = { BLOCK_KEY_SIZE }, .count = 1 },
		   by_size);
	story_free(story);
}

/* ---- sizes and lifetimes ---- */

static void count_block(const struct story_block *b,
			struct size_class sizes[HISTOGRAM_BUCKETS],
			struct histogram_bucket lifetimes[HISTOGRAM_BUCKETS])
{
	struct size_class *size = &sizes[histogram_bucket(b->size)];
	struct histogram_bucket *lifetime;

	size->allocations++;
	size->bytes += b->size;
	if (b->end == STORY_LIVE) {
		size->live_blocks++;
		size->live_bytes += b->size;
		return;
	}
	size->frees++;
	size->temporary += b->between == 0;
	size->lifetime += (double)(b->end - b->alloc);
	lifetime = &lifetimes[histogram_bucket((b->end - b->alloc) *
					       STORY_TICK_NS)];
	lifetime->blocks++;
	lifetime->bytes += b->size;
}

static void sizes_and_lifetimes(void **state)
{
	struct model_options options = { .wants = MODEL_WANT_HISTOGRAMS };
	struct size_class sizes[HISTOGRAM_BUCKETS] = { 0 };
	struct histogram_bucket lifetimes[HISTOGRAM_BUCKETS] = { 0 };
	struct model *model;

	(void)state;
	begin(40);
	model = read_story(&options, NULL);
	for (uint32_t i = 0; i < story->count; i++)
		count_block(&story->blocks[i], sizes, lifetimes);
	assert_memory_equal(sizes, model->histograms.sizes, sizeof(sizes));
	assert_memory_equal(lifetimes, model->histograms.lifetimes,
			    sizeof(lifetimes));
	for (uint32_t c = 0; c < STORY_CONTEXTS; c++) {
		struct histogram born = { 0 }, died = { 0 };
		uint32_t cost = contexts_cost(&model->contexts,
					      GT_STOP_COUNT + c);

		memset(sizes, 0, sizeof(sizes));
		memset(lifetimes, 0, sizeof(lifetimes));
		for (uint32_t i = 0; i < story->count; i++)
			if (story->blocks[i].context == c)
				count_block(&story->blocks[i], sizes,
					    lifetimes);
		histograms_add(&model->histograms, cost, HISTOGRAM_SIZES,
			       &born);
		histograms_add(&model->histograms, cost, HISTOGRAM_LIFETIMES,
			       &died);
		assert_memory_equal(died.bucket, lifetimes, sizeof(lifetimes));
		for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
			assert_int_equal(born.bucket[b].blocks,
					 sizes[b].allocations);
			assert_int_equal(born.bucket[b].bytes,
					 sizes[b].bytes);
		}
	}
	end(model);
	story_free(story);
}

/* ---- samples ---- */

#define MEAN 1000

/* Each event stands for the blocks that were as likely to be in the sample. */
static void sample_is_scaled(void **state)
{
	struct model_options options = { .wants = MODEL_WANT_TIMELINE };
	double blocks = 0, bytes = 0, live_bytes = 0, freed = 0, heap = 0;
	struct heap_share shares[HEAP_PARTS];
	struct model *model;

	(void)state;
	story = story_new(50);
	story_write(story, "1000");
	model = read_story(&options, NULL);
	assert_int_equal(model->sample_mean, MEAN);
	for (uint32_t i = 0; i < story->count; i++) {
		double size = (double)story->blocks[i].size;
		double weight = 1 / (1 - exp(-(size > 0 ? size : 1) / MEAN));

		blocks += weight;
		bytes += weight * size;
		if (story->blocks[i].end == STORY_LIVE)
			live_bytes += weight * size;
		else
			freed += weight;
	}
	assert_true(fabs((double)model->totals.allocations - blocks) < 1);
	assert_true(fabs((double)model->totals.frees - freed) < 1);
	assert_int_equal(model->totals.temporary, 0);	/* nobody knows */
	heap_shares(model, NULL, shares);
	for (unsigned i = 0; i < HEAP_PARTS; i++)
		heap += (double)shares[i].bytes;
	assert_true(fabs(heap - live_bytes) < HEAP_PARTS);
	assert_true(fabs((double)model->totals.total_bytes - bytes) < 2);
	assert_true(fabs((double)model->totals.live_bytes - live_bytes) < 2);
	assert_int_equal(model->timeline.buckets[model->timeline.count - 1]
			 .live_bytes, model->totals.live_bytes);
	blocks = 0;
	for (size_t i = 0; i < model->contexts.cost_count; i++)
		blocks += (double)model->contexts.costs[i].allocations;
	assert_true(fabs((double)model->totals.allocations - blocks) <
		    STORY_CONTEXTS);
	end(model);
	story_free(story);
}

/* After all was freed nothing is left of any rounding. */
static void sample_ends_at_zero(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct trace_event event = { .context = GT_STOP_COUNT };

	(void)state;
	model->sample_mean = 524288;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint64_t i = 1; i < 3000; i++) {
			event.kind = pass ? GT_FREE : GT_ALLOC;
			event.stamp = pass * 100000 + i;
			event.address = i * 16;
			event.size = pass ? 0 : i * i;
			model_events(model, 0, &event, 1);
		}
	model_finish(model);
	assert_int_equal(model->totals.live_bytes, 0);
	assert_int_equal(model->totals.live_blocks, 0);
	assert_int_equal(model->totals.allocations, model->totals.frees);
	assert_int_equal(model->contexts.costs[0].live_bytes, 0);
	end(model);
}

static void sums_that_differ_are_seen(void **state)
{
	struct model_options options = { 0 };
	struct model *model;

	(void)state;
	begin(3);
	model = read_story(&options, NULL);
	assert_true(model_is_valid(model));
	model->totals.live_blocks++; /* I1 */
	assert_false(model_is_valid(model));
	model->totals.live_blocks--;
	model->contexts.costs[0].live_bytes++;
	assert_false(model_is_valid(model));
	model->contexts.costs[0].live_bytes--;
	assert_true(model_is_valid(model));
	end(model);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_context_and_keys),
		cmocka_unit_test(sizes_and_lifetimes),
		cmocka_unit_test(sample_is_scaled),
		cmocka_unit_test(sample_ends_at_zero),
		cmocka_unit_test(sums_that_differ_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
