/* test_pages.c: who keeps which pages, against counting bytes one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/status.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/heap.h"
#include "cli/model/pages/pages.h"
#include "tests/unit/page_story.h"

#define SEEDS 12
#define AT_END UINT64_MAX
#define LAST (PAGE_STORY_SNAPSHOTS - 1)

static struct page_story *story;
static struct model *model;
static struct page_story_page table[PAGE_STORY_PAGES];

static void begin(unsigned seed)
{
	story = page_story_new(seed);
	model = model_new(NULL, NULL);
	assert_int_equal(model_read(model, story->path), EXIT_COMPLETE);
	for (unsigned i = 0; i < PAGE_STORY_PAGES; i++)
		table[i] = page_story_page(story, PAGE_STORY_BASE +
					   i * PAGE_STORY_PAGE,
					   AT_END);
}

static void end(void)
{
	model_free(model);
	page_story_free(story);
}

/* The context of a node; PAGE_STORY_CONTEXTS: another. */
static uint32_t context_of(uint32_t node)
{
	uint64_t address = model_contexts(model)->nodes[node].address;

	return address >= 0x1000 && address < 0x1000 + PAGE_STORY_CONTEXTS ?
		(uint32_t)(address - 0x1000) : PAGE_STORY_CONTEXTS;
}

static unsigned use_of(uint64_t live)
{
	unsigned i = 0;

	while ((double)live > PAGE_STORY_PAGE / 100.0 * pages_use_percent[i])
		i++;
	return i;
}

static void check_sums(const struct pages *pages)
{
	uint64_t count = 0, live = 0, single = 0;
	uint64_t uses[PAGES_USES] = { 0 };

	for (unsigned i = 0; i < PAGE_STORY_PAGES; i++) {
		if (table[i].live == 0)
			continue;
		count++;
		live += table[i].live;
		single += table[i].blocks == 1;
		uses[use_of(table[i].live)]++;
	}
	assert_int_equal(pages->sum.pages, count);
	assert_int_equal(pages->sum.live_bytes, live);
	assert_int_equal(pages->single, single);
	for (unsigned i = 0; i < PAGES_USES; i++)
		assert_int_equal(pages->use[i].pages, uses[i]);
	assert_int_equal(pages->cut, 0);
	assert_true(pages_are_valid(pages));
}

static void check_runs(const struct pages *pages)
{
	size_t at = 0;
	uint64_t in_run = 0;

	for (unsigned i = 0; i < PAGE_STORY_PAGES; i++) {
		const struct page_run *run = &pages->runs[at];
		unsigned groups = 0;

		if (table[i].live == 0)
			continue;
		assert_true(at < pages->run_count);
		for (unsigned k = 0; k < PAGE_STORY_CONTEXTS; k++)
			groups += table[i].of_context[k] > 0;
		assert_int_equal(run->address + in_run * PAGE_STORY_PAGE,
				 PAGE_STORY_BASE + i * PAGE_STORY_PAGE);
		assert_int_equal(run->live_bytes, table[i].live);
		assert_int_equal(run->blocks, table[i].blocks);
		assert_int_equal(run->groups, groups);
		if (++in_run == run->pages) {
			at++;
			in_run = 0;
		}
	}
	assert_int_equal(at, pages->run_count);
}

/* Shares are rounded on each page, by less than a byte. */
static void check_context(const struct pages *pages, uint32_t context,
			  const struct pages_group *group)
{
	double shared = 0;
	uint64_t alone = 0, count = 0, blocks = 0;

	for (unsigned i = 0; i < PAGE_STORY_PAGES; i++) {
		uint64_t bytes = table[i].of_context[context];

		if (bytes == 0)
			continue;
		count++;
		shared += (double)PAGE_STORY_PAGE * (double)bytes /
			(double)table[i].sum;
		alone += bytes == table[i].sum ? PAGE_STORY_PAGE : 0;
	}
	for (unsigned i = 0; i < PAGE_STORY_BLOCKS; i++)
		blocks += story->blocks[i].context == context &&
			story->blocks[i].end == PAGE_STORY_LIVE;
	assert_int_equal(group->pages, count);
	assert_int_equal(group->blocks, blocks);
	assert_int_equal(group->alone_bytes, alone);
	assert_true((double)group->shared_bytes >= shared - (double)count);
	assert_true((double)group->shared_bytes <= shared + (double)count);
	assert_true(group->alone_bytes <= group->shared_bytes);
	assert_true(group->resident_bytes <= group->shared_bytes);
	assert_true(pages->sum.pages >= group->pages);
}

static void check_resident(const struct pages *pages)
{
	uint64_t min = 0, max = 0;

	assert_non_null(pages->snapshot);
	assert_int_equal(pages->snapshot_ns, story->stamps[LAST] * 10);
	for (unsigned i = 0; i < PAGE_STORY_MAPPINGS; i++) {
		const struct page_story_mapping *m = &story->mappings[LAST][i];
		uint64_t bytes = 0, elsewhere;

		for (unsigned k = 0; k < PAGE_STORY_PAGES; k++) {
			uint64_t page = PAGE_STORY_BASE + k * PAGE_STORY_PAGE;

			if (table[k].live > 0 && page >= m->start &&
			    page < m->start + m->size)
				bytes += PAGE_STORY_PAGE;
		}
		elsewhere = m->size - bytes;
		max += bytes < m->rss ? bytes : m->rss;
		min += m->rss > elsewhere ? m->rss - elsewhere : 0;
	}
	assert_int_equal(pages->resident.max_bytes, max);
	assert_int_equal(pages->resident.min_bytes, min);
}

static void by_brute_force(void **state)
{
	const struct pages_options options = {
		.moment_ns = PAGE_STORY_END * 10, .runs = true,
	};

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct pages *pages;

		begin(seed);
		pages = pages_new(model, &options);
		check_sums(pages);
		check_runs(pages);
		check_resident(pages);
		for (size_t i = 0; i < pages->group_count; i++) {
			uint32_t context = context_of((uint32_t)i);

			if (context < PAGE_STORY_CONTEXTS)
				check_context(pages, context,
					      &pages->groups[i]);
			else
				assert_int_equal(pages->groups[i].pages, 0);
		}
		pages_free(pages);
		end();
	}
}

/* The highest end of the blocks that are live in a part of the heap. */
static void heaps(void **state)
{
	const struct pages_options options = { 0 };

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct pages *pages;

		begin(seed);
		pages = pages_new(model, &options);
		assert_true(pages->heap_count <= HEAP_PARTS);
		for (size_t i = 0; i < pages->heap_count; i++) {
			const struct pages_heap *heap = &pages->heaps[i];
			uint64_t last = 0, before = 0;

			for (unsigned k = 0; k < PAGE_STORY_BLOCKS; k++) {
				const struct page_story_block *block =
					&story->blocks[k];
				uint64_t stop = block->address +
					(block->size ? block->size : 1);

				if (block->end != PAGE_STORY_LIVE ||
				    heap_part(block->layout) != heap->part)
					continue;
				if (stop > last)
					last = stop;
				if (block->address < heap->top->address &&
				    stop > before)
					before = stop;
			}
			assert_int_equal(heap->end, last);
			assert_int_equal(heap->has_top,
					 heap->part == HEAP_MAIN ||
					 heap->part == HEAP_OTHER);
			if (before > 0)
				assert_int_equal(heap->top_bytes,
						 last - before);
		}
		pages_free(pages);
		end();
	}
}

/* Contexts that are one group, and one that is left out. */
static void groups(void **state)
{
	struct pages_options options = { .group_count = 2 };
	uint32_t group_of_cost[PAGE_STORY_CONTEXTS + GT_STOP_COUNT];
	struct pages *pages;
	uint64_t alone = 0;

	(void)state;
	begin(3);
	for (size_t i = 0; i < model_contexts(model)->cost_count; i++) {
		uint32_t context =
			context_of(model_contexts(model)->costs[i].node);

		group_of_cost[i] = context == 0 ? PAGES_NO_GROUP : context % 2;
	}
	options.group_of_cost = group_of_cost;
	pages = pages_new(model, &options);
	for (unsigned i = 0; i < PAGE_STORY_PAGES; i++) {
		uint64_t of[2] = { 0 };

		for (unsigned k = 1; k < PAGE_STORY_CONTEXTS; k++)
			of[k % 2] += table[i].of_context[k];
		alone += of[1] > 0 && of[0] == 0 ? PAGE_STORY_PAGE : 0;
	}
	assert_int_equal(pages->groups[1].alone_bytes, alone);
	assert_int_equal(pages->groups[0].shared_bytes +
			 pages->groups[1].shared_bytes,
			 pages->sum.pages * PAGE_STORY_PAGE);
	pages_free(pages);
	end();
}

static void broken_ones(void **state)
{
	const struct pages_options options = { 0 };
	struct pages *pages;

	(void)state;
	begin(1);
	pages = pages_new(model, &options);
	assert_true(pages_are_valid(pages));
	pages->use[2].pages++;
	assert_false(pages_are_valid(pages));
	pages->use[2].pages--;
	pages->use[1].live_bytes++;
	assert_false(pages_are_valid(pages));
	pages->use[1].live_bytes--;
	pages->mappings[0].sum.pages++;
	assert_false(pages_are_valid(pages));
	pages->mappings[0].sum.pages--;
	pages->heaps[0].sum.pages++;
	assert_false(pages_are_valid(pages));
	pages->heaps[0].sum.pages--;
	pages->groups[0].shared_bytes++;
	assert_false(pages_are_valid(pages));
	pages->groups[0].shared_bytes--;
	pages->resident.min_bytes = pages->resident.max_bytes + 1;
	assert_false(pages_are_valid(pages));
	pages_free(pages);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_brute_force),
		cmocka_unit_test(heaps),
		cmocka_unit_test(groups),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
