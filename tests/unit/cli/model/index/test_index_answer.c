/* test_index_answer.c: figures from rows of a store are those of passes over
 * the events: of random programs, whose store is made by hand, for random
 * filters and keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/hash.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/weight.h"
#include "cli/model/index/index_answer.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_store.h"
#include "cli/model/index/index_sweep.h"
#include "cli/model/stats/histograms.h"
#include "cli/store/store_write.h"
#include "tests/unit/filter_words.h"
#include "tests/unit/model_story.h"

#define PROGRAMS 12
#define QUESTIONS 40

/* ---- the store ---- */

/* Numbers of edges: one for each step of the story. */
static void number_edges(const struct story *s, uint64_t *allocs,
			 uint64_t *ends)
{
	for (uint32_t i = 0; i < s->step_count; i++)
		(s->steps[i].ends ? ends : allocs)[s->steps[i].block] = i + 1;
}

static struct store_row row_of(const struct story_block *block,
			       uint64_t alloc, uint64_t end)
{
	bool live = block->end == STORY_LIVE;

	return (struct store_row){
		.begin = block->alloc, .end = block->end,
		.alloc_edge = alloc, .end_edge = end,
		.address = block->address, .size = block->size,
		.between = block->between, .layout = block->layout,
		/* thread 0 and the roots come before */
		.thread = block->thread + 1,
		.node = CONTEXT_ROOTS + block->context,
		.end_thread = STORE_NONE, .end_node = STORE_NONE,
		.how = live ? STORE_LIVE : STORE_FREED,
	};
}

/* Of a sample no block is temporary. */
static void add_rows(const struct story *s, struct store_writer *writer,
		     bool sampled)
{
	static uint64_t allocs[STORY_STEPS], ends[STORY_STEPS];
	struct store_row row;

	number_edges(s, allocs, ends);
	for (uint32_t i = 0; i < s->step_count; i++) {
		uint32_t block = s->steps[i].block;

		if (!s->steps[i].ends)
			continue;
		row = row_of(&s->blocks[block], allocs[block], ends[block]);
		row.between += sampled ? 4096 : 0;
		store_writer_add(writer, &row);
	}
	for (uint32_t i = 0; i < s->count; i++)
		if (s->blocks[i].end == STORY_LIVE) {
			row = row_of(&s->blocks[i], allocs[i], STORE_NEVER);
			store_writer_add(writer, &row);
		}
}

/* `mean`: of the sample; 0: none. */
static void find_most(const struct story *s, uint64_t mean,
		      struct index_facts *facts)
{
	uint64_t blocks = 0, bytes = 0;

	for (uint32_t i = 0; i < s->step_count; i++) {
		const struct story_block *block = &s->blocks[s->steps[i].block];
		struct weight_amount amount = weight_block(block->size, mean);

		blocks += s->steps[i].ends ? -amount.blocks : amount.blocks;
		bytes += s->steps[i].ends ? -amount.bytes : amount.bytes;
		if (bytes <= facts->most_bytes)
			continue;
		facts->most_bytes = bytes;
		facts->most_blocks = blocks;
		facts->most_edge = i + 1;
		facts->most_stamp = block->alloc;
	}
}

static void add_facts(const struct story *s, uint64_t mean,
		      struct store_writer *writer)
{
	struct index_stretch stretch = { 0 };
	uint64_t threads[STORY_THREADS + 1] = { 0 };
	struct index_facts facts = {
		.last_stamp = s->stamp,
		.stretches = &stretch, .stretch_count = 1,
		.thread_events = threads, .thread_allocations = threads,
		.thread_count = STORY_THREADS + 1,
	};

	find_most(s, mean, &facts);
	index_facts_write(&facts, writer);
}

#define STORE_PATH "/tmp/gnomon-unit-XXXXXX"

/* `path` is STORE_PATH, and becomes that of its file. */
static struct store *make_named(const struct story *s, uint64_t mean,
				char *path)
{
	const struct store_key key = { .trace_id = 1 };
	int fd = mkstemp(path);
	struct store_writer *writer = store_writer_new(fd, 0);
	struct store *store;

	add_rows(s, writer, mean != 0);
	add_facts(s, mean, writer);
	assert_int_equal(store_writer_finish(writer, &key), 0);
	store_writer_free(writer);
	assert_int_equal(store_open(fd, path, NULL, &store), STORE_GOOD);
	return store;
}

static struct store *make_store(const struct story *s, uint64_t mean)
{
	char path[] = STORE_PATH;
	struct store *store = make_named(s, mean, path);

	unlink(path);
	return store;
}

/* ---- questions ---- */

static struct filter *random_filter(unsigned question)
{
	static const struct {
		const char *name, *value;
	} words[] = {
		{ "size-min", "100" }, { "size-max", "250" },
		{ "size-min", "5000" }, { "from", "25%" }, { "to", "@two" },
		{ "alive-at", "50%" }, { "alive-at", "@one" },
		{ "alive-at-2", "90%" }, { "lifetime-min", "2us" },
		{ "lifetime-max", "80us" }, { "fate", "live" },
		{ "fate", "freed" }, { "fate", "temporary" },
		{ "thread", "101" }, { "thread", "t0" },
		{ "address-min", "0x10400" }, { "address-max", "0x11000" },
		{ "allocator", "glibc" }, { "arena", "other" },
		{ "mmapped", "yes" }, { "marker", "one" },
	};
	struct filter *filter = filter_new(NULL);

	for (unsigned n = question % 4; n > 0; n--) {
		unsigned i = (unsigned)rand() %
			     (sizeof(words) / sizeof(*words));

		/* an old word may have no such value: then there is none */
		filter_take_word(filter, words[i].name, words[i].value);
	}
	return filter;
}

static struct block_keys random_keys(void)
{
	static const enum block_key known[] = {
		BLOCK_KEY_THREAD, BLOCK_KEY_SIZE, BLOCK_KEY_SIZE_CLASS,
		BLOCK_KEY_ARENA, BLOCK_KEY_LIFETIME,
	};
	struct block_keys keys = { 0 };
	unsigned first = (unsigned)rand() % 5;

	for (unsigned n = (unsigned)rand() % 4; n > 0; n--)
		keys.list[keys.count++] = known[(first + n) % 5];
	return keys;
}

/* ---- comparing ---- */

static void same_totals(const struct totals *a, const struct totals *b)
{
	assert_int_equal(a->allocations, b->allocations);
	assert_int_equal(a->frees, b->frees);
	assert_int_equal(a->total_bytes, b->total_bytes);
	assert_int_equal(a->live_bytes, b->live_bytes);
	assert_int_equal(a->live_blocks, b->live_blocks);
	assert_int_equal(a->peak_bytes, b->peak_bytes);
	assert_int_equal(a->peak_blocks, b->peak_blocks);
	assert_int_equal(a->peak_stamp, b->peak_stamp);
	assert_int_equal(a->temporary, b->temporary);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->unpaired, b->unpaired);
	assert_int_equal(a->repaired, b->repaired);
	assert_int_equal(a->last_stamp, b->last_stamp);
}

static void same_costs(const struct model *passes, const struct model *rows)
{
	const struct contexts *a = model_contexts(passes);
	const struct contexts *b = model_contexts(rows);

	assert_int_equal(a->cost_count, b->cost_count);
	for (size_t i = 0; i < a->cost_count; i++) {
		uint32_t as[BLOCK_KEYS_MAX] = { 0 }, bs[BLOCK_KEYS_MAX] = { 0 };
		struct figures x, y;

		assert_int_equal(a->costs[i].node, b->costs[i].node);
		if (model_block_keys(passes)->count > 0) {
			block_keys_values(model_block_keys(passes),
					  a->costs[i].key, as);
			block_keys_values(model_block_keys(rows),
					  b->costs[i].key, bs);
		}
		assert_memory_equal(as, bs, sizeof(as));
		model_figures(passes, &a->costs[i], &x);
		model_figures(rows, &b->costs[i], &y);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static void same_histograms(const struct model *passes,
			    const struct model *rows)
{
	const struct histograms *a = model_histograms(passes);
	const struct histograms *b = model_histograms(rows);

	assert_memory_equal(a->sizes, b->sizes, sizeof(a->sizes));
	assert_memory_equal(a->lifetimes, b->lifetimes, sizeof(a->lifetimes));
}

/* A sum that does not depend on the order. */
static uint64_t digest_of_blocks(const struct model *model)
{
	const struct contexts *contexts = model_contexts(model);
	const struct block *block;
	uint64_t at = 0, digest = 0;

	while ((block = model_next_block(model, &at)) != NULL)
		digest += hash_fixed(block->address ^
			hash_fixed(block->size ^ hash_fixed(block->alloc ^
			hash_fixed(contexts->costs[block->cost].node ^
				   (uint64_t)block->thread << 32))));
	return digest;
}

static uint32_t by_cost(void *owner, uint32_t node, uint32_t key)
{
	uint32_t cost = contexts_find_cost(model_contexts(owner), node, key);

	return cost == CONTEXT_NO_COST || cost % 4 == 3 ? MODEL_NO_GROUP :
							  cost % 4;
}

static void same_peaks(const struct story *s, struct model *passes,
		       struct model *rows)
{
	const struct index_grouping reported = {
		.group = by_cost, .owner = rows, .count = 3,
	};
	struct group_peak a[3], b[3];

	assert_int_equal(model_group_peaks(passes, s->path, by_cost, passes, a,
					   3), EXIT_COMPLETE);
	assert_int_equal(index_group_peaks(rows, &reported, b), 0);
	assert_memory_equal(a, b, sizeof(a));
}

static void ask(const struct story *s, struct model *rows, unsigned question)
{
	struct filter *filter = random_filter(question);
	struct block_keys keys = random_keys();
	const struct model_options options = {
		.filter = filter, .temporary = question % 3,
	};
	struct model *passes = model_new(&options, &keys);
	int status = model_read(passes, s->path);

	assert_true(index_can_answer(model_store(rows), &options));
	index_request(rows, &options, &keys);
	if (status == EXIT_NOTHING) {
		assert_int_equal(index_answer(rows, &index_all, NULL), -EINVAL);
	} else {
		assert_int_equal(index_answer(rows, &index_all, NULL), 0);
		same_totals(model_totals(passes), model_totals(rows));
		same_totals(model_totals_of_all(passes),
			    model_totals_of_all(rows));
		same_costs(passes, rows);
		same_histograms(passes, rows);
		assert_int_equal(digest_of_blocks(passes),
				 digest_of_blocks(rows));
		same_peaks(s, passes, rows);
	}
	model_free(passes);
	filter_free(filter);
}

static void as_by_passes(unsigned seed, const char *sample)
{
	struct story *s = story_new(seed);
	struct model *rows = model_new(NULL, NULL);

	story_write(s, sample);
	assert_int_equal(model_read_outline(rows, s->path), EXIT_COMPLETE);
	index_attach(rows, make_store(s, sample == NULL ? 0 :
				      strtoull(sample, NULL, 10)));
	for (unsigned i = 0; i < QUESTIONS; i++)
		ask(s, rows, i);
	model_free(rows);
	story_free(s);
}

static void of_all_blocks(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= PROGRAMS; seed++)
		as_by_passes(seed, NULL);
}

static void of_samples(void **state)
{
	(void)state;
	as_by_passes(101, "300");
	as_by_passes(102, "20000");
}

static void what_rows_do_not_tell(void **state)
{
	struct story *s = story_new(7);
	struct model_options options = { .wants = MODEL_WANT_CHAINS };
	struct store *store;

	(void)state;
	story_write(s, NULL);
	store = make_store(s, 0);
	assert_false(index_can_answer(store, &options));
	options = (struct model_options){ .until_ns = 5 };
	assert_false(index_can_answer(store, &options));
	options = (struct model_options){ .filter = filter_new(NULL) };
	assert_true(index_can_answer(store, &options));
	filter_take_word((struct filter *)options.filter, "fate", "group-live");
	assert_false(index_can_answer(store, &options));
	filter_free((struct filter *)options.filter);
	store_close(store);
	story_free(s);
}

/* A store that is damaged after figures were found: what comes after them is
 * not told, and its file is removed, unless it has lost its name. */
static void damaged_amid(void **state)
{
	struct story *s = story_new(8);
	const struct model_options options = { 0 };

	(void)state;
	story_write(s, NULL);
	for (unsigned other = 0; other < 2; other++) {
		char path[] = STORE_PATH, bytes[4096];
		struct store *store = make_named(s, 0, path);
		struct model *rows = model_new(&options, NULL);
		const struct index_grouping reported = {
			.group = by_cost, .owner = rows, .count = 3,
		};
		struct group_peak peaks[3];
		int error;

		assert_int_equal(index_read(rows, s->path, store, &index_all,
					    NULL, &error), EXIT_COMPLETE);
		assert_int_equal(error, 0);
		memset(bytes, 0xa5, sizeof(bytes));
		assert_int_equal(pwrite(store_file(store), bytes,
					sizeof(bytes), 128), sizeof(bytes));
		if (other) {
			unlink(path);
			close(open(path, O_WRONLY | O_CREAT, 0600));
		}
		assert_int_equal(index_group_peaks(rows, &reported, peaks),
				 -EBADMSG);
		assert_int_equal(access(path, F_OK), other ? 0 : -1);
		unlink(path);
		model_free(rows);
	}
	story_free(s);
}

/* Errors that say nothing of it leave it where it is. */
static void other_errors(void **state)
{
	static const int errors[] = { 0, -ECANCELED, -EINVAL, -E2BIG, -EIO };
	struct story *s = story_new(8);
	char path[] = STORE_PATH;
	struct store *store = make_named(s, 0, path);

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		assert_false(index_store_drop(store, errors[i], NULL));
		assert_int_equal(access(path, F_OK), 0);
	}
	assert_true(index_store_drop(store, -ESTALE, NULL));
	assert_int_equal(access(path, F_OK), -1);
	/* once more: it has no name by now */
	assert_true(index_store_drop(store, -EBADMSG, NULL));
	store_close(store);
	story_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_all_blocks),
		cmocka_unit_test(of_samples),
		cmocka_unit_test(what_rows_do_not_tell),
		cmocka_unit_test(damaged_amid),
		cmocka_unit_test(other_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
