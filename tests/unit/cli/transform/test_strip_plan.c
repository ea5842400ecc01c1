/*
 * test_strip_plan.c: which events tell what was left out before them, where
 * other threads free.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/transform/strip_plan.h"
#include "tests/unit/trace_write.h"

#define OWNER 1
#define OTHER 2
#define THREADS 4000	/* half of them before what is said */
#define CHAIN 7
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct trace_event allocation(uint64_t stamp, uint64_t address,
				     uint32_t size)
{
	return (struct trace_event){ .kind = GT_ALLOC, .stamp = stamp,
				     .address = address, .size = size };
}

static struct trace_event freeing(uint64_t stamp, uint64_t address)
{
	return (struct trace_event){ .kind = GT_FREE, .stamp = stamp,
				     .address = address };
}

/* Blocks that end before the next allocation go. */
static void plan_of(const struct trace_write *t, struct strip_plan *plan)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	const struct strip_options options = { .by_temporary = true };

	trace_write_file(t, path);
	strip_plan_read(plan, &options, path, "/tmp");
	unlink(path);
	free(t->bytes.data);
}

/* Of an event of the first chunk. */
static uint64_t position_of(size_t index)
{
	return strip_marks_position(0, index);
}

/* What was left out of a ring that was replaced is told at its end. */
static void ring_is_replaced(void **state)
{
	const struct trace_event before[] = {
		allocation(10, 0x1000, 1 << 20), freeing(11, 0x1000),
		allocation(20, 0x2000, 64),	/* stays, */
		allocation(30, 0x3000, 32),	/* goes */
	};
	const struct trace_event after[] = { freeing(40, 0x3000) };
	const struct trace_event others[] = { freeing(50, 0x2000) };
	uint64_t last = position_of(COUNT(before) - 1);
	struct trace_write t;
	struct strip_plan plan;
	uint32_t stream;

	(void)state;
	trace_write_begin(&t);
	trace_write_events(&t, OWNER, 0, 0, before, COUNT(before), 1);
	trace_write_events(&t, OWNER, 1, 0, after, COUNT(after), 1);
	trace_write_events(&t, OTHER, 0, 0, others, COUNT(others), 1);
	trace_write_sync(&t, 100);
	plan_of(&t, &plan);
	stream = strip_marks_stream(&plan.marks, OWNER, 0);
	assert_int_equal(strip_marks_get(&plan.marks, stream, last),
			 STRIP_DROP | STRIP_TELL);
	strip_plan_free(&plan);
}

/* The owner allocates anew, as stamps say, before another thread's free. */
static void free_comes_late(void **state)
{
	const struct trace_event owner[] = {
		allocation(10, 0x1000, 1 << 20), freeing(11, 0x1000),
		allocation(20, 0x2000, 64),	/* stays, */
		allocation(30, 0x3000, 32), freeing(31, 0x3000), /* goes, */
		allocation(32, 0x2000, 64),	/* stays, */
		allocation(33, 0x3000, 32), freeing(34, 0x3000), /* goes */
	};
	const struct trace_event others[] = { freeing(35, 0x2000) };
	uint64_t last = position_of(COUNT(owner) - 1);
	struct trace_write t;
	struct strip_plan plan;
	uint32_t stream;

	(void)state;
	trace_write_begin(&t);
	trace_write_events(&t, OWNER, 0, 0, owner, COUNT(owner), 1);
	trace_write_events(&t, OTHER, 0, 0, others, COUNT(others), 1);
	trace_write_sync(&t, 100);
	plan_of(&t, &plan);
	stream = strip_marks_stream(&plan.marks, OWNER, 0);
	assert_int_equal(strip_marks_get(&plan.marks, stream, last),
			 STRIP_DROP | STRIP_TELL);
	strip_plan_free(&plan);
}

/* Another thread's allocation waits for the address that a realloc leaves: what
 * comes there before it begins, and ends, lets that one begin, and stays. */
static void another_waits(void **state)
{
	const struct trace_event owner[] = {
		allocation(10, 0x1000, 1 << 20), freeing(11, 0x1000),
		allocation(20, 0x2000, 64),
		{ .kind = GT_REALLOC_BEGIN, .stamp = 5000, .address = 0x2000 },
		{ .kind = GT_REALLOC_DONE, .stamp = 5000, .address = 0x3000,
		  .size = 80 },
		allocation(5000, 0x2000, 32), freeing(5000, 0x2000),
		allocation(6000, 0x4000, 32), freeing(6000, 0x4000),
	};
	const struct trace_event others[] = {
		allocation(4999, 0x2000, 16), freeing(7000, 0x2000),
	};
	uint64_t at = position_of(5);
	struct trace_write t;
	struct strip_plan plan;
	uint32_t stream;

	(void)state;
	trace_write_begin(&t);
	trace_write_events(&t, OWNER, 0, 0, owner, COUNT(owner), 1);
	trace_write_events(&t, OTHER, 0, 0, others, COUNT(others), 1);
	trace_write_sync(&t, 10000);
	plan_of(&t, &plan);
	stream = strip_marks_stream(&plan.marks, OWNER, 0);
	assert_int_equal(strip_marks_get(&plan.marks, stream, at), 0);
	at = position_of(7);
	assert_int_equal(strip_marks_get(&plan.marks, stream, at), STRIP_DROP);
	strip_plan_free(&plan);
}

/* A realloc that fails: its BEGIN stays, and so must the block. */
static void realloc_fails(void **state)
{
	const struct trace_event owner[] = {
		allocation(10, 0x1000, 1 << 20), freeing(11, 0x1000),
		allocation(20, 0x2000, 64),
		{ .kind = GT_REALLOC_BEGIN, .stamp = 21, .address = 0x2000 },
		{ .kind = GT_REALLOC_FAILED, .stamp = 22,
		  .address = 0x2000 },
		freeing(23, 0x2000),
		allocation(30, 0x2000, 64),
		{ .kind = GT_REALLOC_BEGIN, .stamp = 31, .address = 0x2000 },
		{ .kind = GT_REALLOC_FREED, .stamp = 32,
		  .address = 0x2000 },
	};
	struct trace_write t;
	struct strip_plan plan;
	uint32_t stream;

	(void)state;
	trace_write_begin(&t);
	trace_write_events(&t, OWNER, 0, 0, owner, COUNT(owner), 1);
	trace_write_sync(&t, 10000);
	plan_of(&t, &plan);
	stream = strip_marks_stream(&plan.marks, OWNER, 0);
	for (size_t i = 2; i < COUNT(owner); i++)
		assert_int_equal(strip_marks_get(&plan.marks, stream,
						 position_of(i)),
				 i < 6 ? 0 : STRIP_DROP);
	strip_plan_free(&plan);
}

/* What was said of a chain lasts until its event, however many threads come
 * between. */
static void threads_come_between(void **state)
{
	static const uint64_t args[GT_EXTRA_ARGS] = { CHAIN, 1 };
	const struct trace_event owner[] = {
		allocation(10, 0x1000, 64),
		{ .kind = GT_REALLOC_BEGIN, .stamp = 20, .address = 0x1000 },
		{ .kind = GT_EXTRA, .what = GT_EXTRA_CHAIN_LEAVES,
		  .stamp = 2000, .address = 0x1000, .args = args },
		{ .kind = GT_REALLOC_FREED, .stamp = 9000,
		  .address = 0x1000 },
	};
	struct trace_write t;
	struct strip_plan plan;

	(void)state;
	trace_write_begin(&t);
	trace_write_events(&t, OWNER, 0, 0, owner, COUNT(owner), 1);
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct trace_event one = allocation(
			30 + i, 0x100000 + 16 * (uint64_t)i, 8);

		trace_write_events(&t, OTHER + i, 0, 0, &one, 1, 1);
	}
	trace_write_sync(&t, 10000);
	plan_of(&t, &plan);
	assert_true(plan.lane_capacity > THREADS);
	assert_int_not_equal(strip_chains_number(&plan.chains, CHAIN), 0);
	strip_plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_is_replaced),
		cmocka_unit_test(free_comes_late),
		cmocka_unit_test(another_waits),
		cmocka_unit_test(realloc_fails),
		cmocka_unit_test(threads_come_between),
	};

	return cmocka_run_group_tests_name("strip_plan", tests, NULL, NULL);
}
