/*
 * test_massif.c: each snapshot of a random story against what was live at its
 * moment, and what the allocator had added to it, by brute force; trees add
 * up; by both ways to the curve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "tests/unit/export_story.h"

#define SEEDS 4

struct snapshot {
	uint64_t stamp, heap, extra;
	char tree[16];
};

/* Sums over the blocks that are there. */
struct sums {
	uint64_t heap, extra;
};

static uint64_t extra_of(const struct story_block *block)
{
	if (!(block->layout & GT_LAYOUT_KNOWN))
		return 0;
	return gt_layout_chunk(block->size, block->layout) - block->size;
}

/* What the steps before the first with this stamp, and no more than `steps`,
 * come to. */
static struct sums sums_at(const struct story *story, bool first,
			   uint64_t stamp, uint64_t steps)
{
	struct sums sums = { 0 };

	for (uint32_t i = 0; i < story->step_count && i < steps; i++) {
		const struct story_step *step = &story->steps[i];
		const struct story_block *block = &story->blocks[step->block];

		if ((step->ends ? block->end : block->alloc) >= stamp)
			break;
		if (first && story_function(block) != 0)
			continue;
		sums.heap += step->ends ? -block->size : block->size;
		sums.extra += step->ends ? -extra_of(block) : extra_of(block);
	}
	return sums;
}

/* The next one in the text; NULL: none. */
static const char *next_snapshot(const char *text, struct snapshot *snapshot)
{
	uint64_t ms, part;

	text = strstr(text, "time=");
	if (text == NULL)
		return NULL;
	assert_int_equal(sscanf(text, "time=%" SCNu64 ".%6" SCNu64
				" mem_heap_B=%" SCNu64 " mem_heap_extra_B=%"
				SCNu64 " mem_stacks_B=0 heap_tree=%15s",
				&ms, &part, &snapshot->heap, &snapshot->extra,
				snapshot->tree), 5);
	snapshot->stamp = (ms * 1000000 + part + STORY_TICK_NS / 2) /
		STORY_TICK_NS;
	return strstr(text, "heap_tree=");
}

/* A line of a tree and what is below it; returns what is behind them. */
static const char *check_branch(const char *line, unsigned depth,
				uint64_t *bytes)
{
	uint64_t sum = 0, one;
	unsigned below;
	int at;

	for (unsigned i = 0; i < depth; i++)
		assert_int_equal(*line++, ' ');
	assert_int_equal(sscanf(line, "n%u: %" SCNu64 " %n", &below, bytes,
				&at), 2);
	assert_true(line[at] != '\n');
	line = strchr(line, '\n') + 1;
	for (unsigned i = 0; i < below; i++) {
		line = check_branch(line, depth + 1, &one);
		sum += one;
	}
	/* Stacks are one frame: what is below the whole is all of it. */
	assert_int_equal(sum, below > 0 ? *bytes : 0);
	return line;
}

static void check_tree(const char *at, uint64_t heap)
{
	uint64_t bytes;

	at = check_branch(strchr(at, '\n') + 1, 0, &bytes);
	assert_int_equal(bytes, heap);
	assert_true(*at == 0 || *at == '#');
}

static void check_all(const struct story *story, bool first)
{
	char *text = story_export(story, &export_massif, MEASURE_LIVE, first);
	const char *at = text;
	unsigned count = 0, trees = 0;
	uint64_t marked = UINT64_MAX, most = 0;
	struct snapshot snapshot = { 0 };

	while ((at = next_snapshot(at, &snapshot)) != NULL) {
		bool tree = strcmp(snapshot.tree, "empty") != 0;
		bool peak = tree && trees == 0, end = tree && trees == 1;
		struct sums sums = sums_at(story, first, peak || end ?
			UINT64_MAX : snapshot.stamp, peak ?
			story->peak_step + 1 : UINT64_MAX);

		assert_int_equal(snapshot.heap, sums.heap);
		assert_int_equal(snapshot.extra, sums.extra);
		if (peak || end)
			check_tree(at, sums.heap);
		trees += tree;
		count++;
		if (strcmp(snapshot.tree, "peak") == 0)
			marked = snapshot.heap;
		if (snapshot.heap > most)
			most = snapshot.heap;
	}
	assert_int_equal(trees, 2);
	assert_true(first ? marked == UINT64_MAX || marked == most :
		    marked == most);
	assert_true(snapshot.extra > 0 && count > 50 && count <= 103);
	free(text);
}

static void each_moment_has_what_was_live(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct story *story = story_new(seed);

		story_write(story, NULL);
		check_all(story, false);
		check_all(story, true);
		story_free(story);
	}
}

static void what_only_grows_has_no_headers(void **state)
{
	struct story *story = story_new(3);

	(void)state;
	story_write(story, NULL);
	for (int round = 0; round < 2; round++) {
		char *text = story_export(story, &export_massif, MEASURE_COUNT,
					  round);
		struct snapshot snapshot = { 0 };
		uint64_t before = 0, wanted = 0;
		const char *at = text;

		for (uint32_t i = 0; i < story->count; i++)
			wanted += round == 0 ||
				story_function(&story->blocks[i]) == 0;
		while ((at = next_snapshot(at, &snapshot)) != NULL) {
			assert_int_equal(snapshot.extra, 0);
			assert_true(snapshot.heap >= before);
			before = snapshot.heap;
		}
		assert_string_equal(snapshot.tree, "peak");
		assert_int_equal(before, wanted);
		free(text);
	}
	story_free(story);
}

static void a_sample_has_no_curve_of_some_stacks(void **state)
{
	struct story *story = story_new(2);
	char *text;

	(void)state;
	story_write(story, "1000");
	text = story_export(story, &export_massif, MEASURE_LIVE, true);
	assert_non_null(strstr(text, "snapshot=2\n"));
	assert_null(strstr(text, "snapshot=3\n"));
	assert_non_null(strstr(text, "estimates"));
	assert_non_null(strstr(text, "mem_heap_extra_B=0\n"));
	free(text);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_has_what_was_live),
		cmocka_unit_test(what_only_grows_has_no_headers),
		cmocka_unit_test(a_sample_has_no_curve_of_some_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
