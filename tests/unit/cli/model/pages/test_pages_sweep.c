/*
 * test_pages_sweep.c: covers of blocks that no allocator makes: beyond all
 * addresses, and many over each other. What is usual is in test_pages.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/base/status.h"
#include "cli/model/core/blocks.h"
#include "cli/model/model.h"
#include "cli/model/pages/pages_sweep.h"
#include "tests/unit/trace_write.h"

#define PAGE UINT64_C(4096)
#define BLOCKS 5000

struct reported {
	uint64_t address, pages, live, blocks;
};

static struct trace_event events[BLOCKS];
static size_t event_count;
static struct reported reported[2 * BLOCKS];
static size_t told_count, block_count;
static uint64_t last_address;

static void add(uint64_t address, uint64_t size)
{
	events[event_count] = (struct trace_event){
		.stamp = 10 + event_count, .address = address, .size = size,
		.kind = GT_ALLOC, .context = GT_STOP_COUNT,
	};
	event_count++;
}

static void take_block(void *owner, const struct block *block)
{
	assert_ptr_equal(owner, reported);
	assert_true(block->address >= last_address);
	last_address = block->address;
	block_count++;
}

static void take_cover(void *owner, const struct page_cover *cover)
{
	const struct reported *before = told_count == 0 ? NULL :
		&reported[told_count - 1];

	assert_ptr_equal(owner, reported);
	assert_int_equal(cover->address % PAGE, 0);
	assert_true(cover->pages > 0);
	if (before != NULL)
		assert_true(before->address + before->pages * PAGE <=
			    cover->address);
	assert_int_equal(cover->member_count, 1);
	assert_int_equal(cover->members[0].group, 0);
	assert_non_null(cover->first);
	reported[told_count++] = (struct reported){
		cover->address, cover->pages, cover->live_bytes, cover->blocks,
	};
}

/* Returns how many blocks were cut. */
static uint64_t sweep(void)
{
	const struct pages_sweep sweep = {
		.page_size = PAGE, .group_count = 1, .owner = reported,
		.block = take_block, .cover = take_cover,
	};
	struct model *model = model_new(NULL, NULL);
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct trace_write t;
	uint64_t cut;

	told_count = block_count = 0;
	last_address = 0;
	trace_write_begin(&t);
	trace_write_sync(&t, 0);
	trace_write_events(&t, 0, 0, 0, events, event_count, 0);
	trace_write_sync(&t, 100 + event_count);
	trace_write_line(&t, GT_END, "reason", "exit");
	trace_write_file(&t, path);
	buffer_free(&t.bytes);
	model_read(model, path);
	unlink(path);
	cut = pages_sweep(&sweep, model);
	assert_int_equal(block_count, event_count);
	model_free(model);
	event_count = 0;
	return cut;
}

static void expect(size_t i, uint64_t address, uint64_t pages, uint64_t live,
		   uint64_t blocks)
{
	assert_true(i < told_count);
	assert_int_equal(reported[i].address, address);
	assert_int_equal(reported[i].pages, pages);
	assert_int_equal(reported[i].live, live);
	assert_int_equal(reported[i].blocks, blocks);
}

static void nothing(void **state)
{
	(void)state;
	assert_int_equal(sweep(), 0);
	assert_int_equal(told_count, 0);
}

/* As they are drawn in the header. */
static void one_after_the_other(void **state)
{
	(void)state;
	add(10 * PAGE + 0x80, 0x20);
	add(10 * PAGE + 0x20, 0x20);
	add(11 * PAGE + 0x100, 5 * PAGE);
	add(16 * PAGE + 0x200, 0);
	assert_int_equal(sweep(), 0);
	assert_int_equal(told_count, 4);
	expect(0, 10 * PAGE, 1, 0x40, 2);
	expect(1, 11 * PAGE, 1, PAGE - 0x100, 1);
	expect(2, 12 * PAGE, 4, PAGE, 1);
	expect(3, 16 * PAGE, 1, 0x101, 2);
}

/* One ends where a page does; one has exactly a page. */
static void at_the_edges_of_pages(void **state)
{
	(void)state;
	add(4 * PAGE + 0x10, PAGE - 0x10);
	add(5 * PAGE, PAGE);
	add(7 * PAGE + 0x10, 3 * PAGE - 0x10);
	add(10 * PAGE, 1);
	assert_int_equal(sweep(), 0);
	assert_int_equal(told_count, 5);
	expect(0, 4 * PAGE, 1, PAGE - 0x10, 1);
	expect(1, 5 * PAGE, 1, PAGE, 1);
	expect(2, 7 * PAGE, 1, PAGE - 0x10, 1);
	expect(3, 8 * PAGE, 2, PAGE, 1);
	expect(4, 10 * PAGE, 1, 1, 1);
}

static void beyond_all_addresses(void **state)
{
	uint64_t end;

	(void)state;
	add(20 * PAGE, UINT64_MAX);
	add(30 * PAGE, UINT64_MAX - 30 * PAGE);
	add(UINT64_C(0xffffffff0000), 64);
	assert_int_equal(sweep(), 0);
	expect(0, 20 * PAGE, 1, PAGE, 1);
	expect(1, 21 * PAGE, 9, PAGE, 1);
	expect(2, 30 * PAGE, 1, PAGE, 2);
	end = reported[told_count - 1].address +
	      reported[told_count - 1].pages * PAGE;
	assert_true(end > UINT64_C(0xffffffff0000));
	assert_int_equal(told_count, 6);
}

/* More than are followed: of the others the first pages are told. */
static void over_each_other(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add(40 * PAGE + i * 0x10, 2 * PAGE);
	assert_int_equal(sweep(), 36);
	assert_int_equal(told_count, 3);
	expect(0, 40 * PAGE, 1, PAGE, 100);
	expect(1, 41 * PAGE, 1, PAGE, 64);
	expect(2, 42 * PAGE, 1, 63 * 0x10, 63);
}

/* So many that they are sorted by bytes of their addresses. */
static void many_in_no_order(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < BLOCKS; i++)
		add((1 + i * 7919 % BLOCKS) * PAGE * 3 + 0x40, 16);
	assert_int_equal(sweep(), 0);
	assert_int_equal(told_count, BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++)
		expect(i, (1 + i) * PAGE * 3, 1, 16, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(at_the_edges_of_pages),
		cmocka_unit_test(beyond_all_addresses),
		cmocka_unit_test(over_each_other),
		cmocka_unit_test(many_in_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
