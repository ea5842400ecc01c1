/* test_threads.c: which thread a record means, when rings are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cli/model/threads.h"

static struct threads threads;

static void tell(unsigned what, uint32_t ring, uint32_t tid, uint32_t flags,
		 uint64_t stamp)
{
	struct trace_thread record = { what, ring, tid, flags, stamp, "", 0 };

	threads_record(&threads, &record);
}

static void describe(uint32_t ring, uint64_t bytes)
{
	struct trace_capture record = { .ring = ring };

	record.value[GT_CAPTURE_STATE_BYTES] = bytes;
	threads_capture(&threads, &record);
}

static uint64_t bytes_of(size_t thread)
{
	return threads.list[thread].capture.value[GT_CAPTURE_STATE_BYTES];
}

static void one_after_the_other(void **state)
{
	(void)state;
	threads_init(&threads);
	tell(GT_THREAD_START, 3, 100, GT_THREAD_MAIN, 10);
	describe(3, 1000);
	tell(GT_THREAD_END, 3, 100, GT_THREAD_MAIN, 20);
	tell(GT_THREAD_START, 3, 101, 0, 30);
	describe(3, 2000);
	describe(3, 3000);	/* the later word counts */
	tell(GT_THREAD_END, 3, 101, 0, 40);
	tell(GT_THREAD_START, 3, 102, 0, 50);
	assert_int_equal(threads.count, 1 + 3);
	assert_true(threads.list[1].described);
	assert_int_equal(bytes_of(1), 1000);
	assert_int_equal(bytes_of(2), 3000);
	assert_false(threads.list[3].described);
	threads_free(&threads);
}

/* Words about nobody, and about a ring that is a thread's second one. */
static void of_nobody(void **state)
{
	(void)state;
	threads_init(&threads);
	describe(7, 1);
	assert_false(threads.list[0].described);
	tell(GT_THREAD_START, 7, 100, 0, 10);
	tell(GT_THREAD_START, 8, 100, GT_THREAD_NESTED, 11);
	describe(8, 2);
	assert_false(threads.list[1].described);
	tell(GT_THREAD_END, 7, 100, 0, 20);
	describe(7, 3);
	assert_int_equal(threads.count, 1 + 1);
	assert_false(threads.list[0].described);
	assert_false(threads.list[1].described);
	threads_free(&threads);
}

/* By the trace, and once more by the live file: the same thread. */
static void told_twice(void **state)
{
	(void)state;
	threads_init(&threads);
	tell(GT_THREAD_START, 1, 100, 0, 10);
	describe(1, 5);
	tell(GT_THREAD_START, 1, 100, 0, 10);
	assert_int_equal(threads.count, 1 + 1);
	assert_true(threads.list[1].described);
	assert_int_equal(bytes_of(1), 5);
	threads_free(&threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(of_nobody),
		cmocka_unit_test(told_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
