/*
 * test_residency.c: what was resident at snapshots, against counting bytes one
 * by one; and looks at the live blocks of a moment (model_at_moments).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/status.h"
#include "cli/model/core/blocks.h"
#include "cli/model/pages/residency.h"
#include "tests/unit/filter_words.h"
#include "tests/unit/page_story.h"

#define SEEDS 12

static struct page_story *story;

static struct model *read_model(const struct filter *filter)
{
	const struct model_options options = { .filter = filter };
	struct model *model = model_new(&options, NULL);

	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	return model;
}

struct sums {
	uint64_t rss, paged, part[RESIDENCY_PARTS];
};

/* What of a mapping has no live blocks is this. */
static enum residency_part kind_of(const struct page_story_mapping *m,
				   bool has_blocks)
{
	if (m->flags & GT_MAPPING_OURS)
		return RESIDENCY_RECORDER;
	if (m->path[0] == '/')
		return RESIDENCY_FILES;
	if (has_blocks || strcmp(m->path, "[heap]") == 0)
		return RESIDENCY_FREE;
	return m->path[0] == '[' ? RESIDENCY_STACKS : RESIDENCY_REST;
}

static void add_mapping(struct sums *sums, unsigned snapshot, unsigned number)
{
	const struct page_story_mapping *m =
		&story->mappings[snapshot][number];
	uint64_t paged = 0, live = 0, resident;

	for (uint64_t page = m->start; page < m->start + m->size;
	     page += PAGE_STORY_PAGE) {
		struct page_story_page found =
			page_story_page(story, page, story->stamps[snapshot]);

		paged += found.live > 0 ? PAGE_STORY_PAGE : 0;
		live += found.live;
	}
	resident = paged < m->rss ? paged : m->rss;
	if (paged > 0)
		live = resident * live / paged;
	sums->rss += m->rss;
	sums->paged += resident;
	sums->part[RESIDENCY_LIVE] += live;
	sums->part[RESIDENCY_FRAGMENTED] += resident - live;
	sums->part[kind_of(m, paged > 0)] += m->rss - resident;
	if (m->rss > m->size - paged)
		sums->paged -= m->rss - (m->size - paged);
}

static void check_point(const struct residency_point *point, unsigned snapshot)
{
	struct sums sums = { 0 };
	uint64_t all = 0;

	for (unsigned i = 0; i < PAGE_STORY_MAPPINGS; i++)
		add_mapping(&sums, snapshot, i);
	assert_int_equal(point->ns, story->stamps[snapshot] * 10);
	assert_int_equal(point->rss_bytes, sums.rss);
	for (unsigned i = 0; i < RESIDENCY_PARTS; i++) {
		assert_int_equal(point->part_bytes[i], sums.part[i]);
		all += point->part_bytes[i];
	}
	assert_int_equal(all, sums.rss);
	assert_int_equal(point->bound_bytes, sums.paged);
}

static void by_brute_force(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct filter *filter = filter_new(NULL);
		struct residency residency;
		struct model *model;

		story = page_story_new(seed);
		/* of all blocks, whatever is selected */
		assert_int_equal(filter_take_word(filter, "size-max", "50"), 0);
		model = read_model(seed % 2 ? filter : NULL);
		assert_int_equal(residency_find(model, story->path, 10, NULL,
						&residency), EXIT_COMPLETE);
		assert_int_equal(residency.count, PAGE_STORY_SNAPSHOTS);
		assert_int_equal(residency.left_out, 0);
		for (unsigned i = 0; i < PAGE_STORY_SNAPSHOTS; i++)
			check_point(&residency.list[i], i);
		residency_free(&residency);
		model_free(model);
		filter_free(filter);
		page_story_free(story);
	}
}

/* The last is among them. */
static void some_are_left_out(void **state)
{
	struct residency residency;
	struct model *model;

	(void)state;
	story = page_story_new(1);
	model = read_model(NULL);
	assert_int_equal(residency_find(model, story->path, 1, NULL,
					&residency), EXIT_COMPLETE);
	assert_int_equal(residency.count, 1);
	assert_int_equal(residency.left_out, PAGE_STORY_SNAPSHOTS - 1);
	check_point(&residency.list[0], PAGE_STORY_SNAPSHOTS - 1);
	residency_free(&residency);
	assert_int_equal(residency_find(model, story->path, 0, NULL,
					&residency), EXIT_COMPLETE);
	assert_int_equal(residency.count, 0);
	residency_free(&residency);
	model_free(model);
	page_story_free(story);
}

static const uint64_t stamps[] = { 0, 15, 700, 3500, 3500, PAGE_STORY_END * 2 };
static size_t looked;

static void look(void *owner, const struct model *then, size_t number)
{
	const struct block *block;
	uint64_t at = 0, count = 0, must = 0;

	assert_ptr_equal(owner, &looked);
	assert_int_equal(number, looked++);
	while ((block = model_next_block(then, &at)) != NULL) {
		assert_true(block->alloc < stamps[number]);
		count++;
	}
	for (unsigned i = 0; i < PAGE_STORY_BLOCKS; i++)
		must += page_story_is_live(&story->blocks[i], stamps[number]);
	assert_int_equal(count, must);
}

static void looks_at_moments(void **state)
{
	const struct model_looks looks = {
		.owner = &looked, .look = look, .stamps = stamps,
		.count = sizeof(stamps) / sizeof(stamps[0]),
	};
	struct model *model;

	(void)state;
	story = page_story_new(2);
	model = read_model(NULL);
	assert_int_equal(model_at_moments(model, story->path, &looks),
			 EXIT_COMPLETE);
	assert_int_equal(looked, looks.count);
	assert_int_equal(model_at_moments(model, "/dev/null", &looks),
			 EXIT_NOTHING);
	assert_int_equal(looked, looks.count);
	model_free(model);
	page_story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_brute_force),
		cmocka_unit_test(some_are_left_out),
		cmocka_unit_test(looks_at_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
