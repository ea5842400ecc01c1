/* test_threads.c: which thread a record means, when rings are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/model/core/threads.h"

static struct threads threads;

static void tell(unsigned what, uint32_t ring, uint32_t tid, uint32_t flags,
		 uint64_t stamp)
{
	struct trace_thread record = { what, ring, tid, flags, stamp, "", 0, 0 };

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

/* The second ring is a part of its thread, whichever record comes first. */
static void second_rings(void **state)
{
	(void)state;
	threads_init(&threads);
	tell(GT_THREAD_START, 1, 100, GT_THREAD_NESTED, 12);
	tell(GT_THREAD_START, 2, 100, 0, 10);
	assert_int_equal(threads.count, 1 + 1);
	assert_int_equal(threads.list[1].start, 10);
	assert_false(threads.list[1].flags & GT_THREAD_NESTED);
	tell(GT_THREAD_END, 2, 100, 0, 20);
	tell(GT_THREAD_END, 1, 100, GT_THREAD_NESTED, 20);
	/* noticed late, of a thread that has ended */
	tell(GT_THREAD_START, 3, 100, GT_THREAD_NESTED, 15);
	assert_int_equal(threads.count, 1 + 1);
	assert_int_equal(threads.list[1].end, 20);
	/* the next one with this id */
	tell(GT_THREAD_START, 4, 100, GT_THREAD_NESTED, 32);
	tell(GT_THREAD_START, 5, 100, 0, 30);
	assert_int_equal(threads.count, 1 + 2);
	assert_int_equal(threads.list[2].start, 30);
	threads_free(&threads);
}

static void begin(uint32_t ring, uint32_t tid, uint64_t stamp,
		  uint64_t pointer, const char *name)
{
	struct trace_thread record = {
		GT_THREAD_START, ring, tid, 0, stamp, name, strlen(name),
		pointer,
	};

	threads_record(&threads, &record);
}

static void called(uint32_t thread, uint64_t pointer, uint64_t stamp,
		   const char *name)
{
	uint64_t args[GT_EXTRA_ARGS] = { 0 };
	struct trace_event event = {
		.kind = GT_EXTRA, .what = GT_EXTRA_NAME, .stamp = stamp,
		.address = pointer, .args = args,
	};

	strncpy((char *)args, name, GT_THREAD_NAME_MAX);
	threads_extra(&threads, thread, &event);
}

static void names(void **state)
{
	const struct thread *thread;

	(void)state;
	threads_init(&threads);
	assert_string_equal(threads_name(&threads.list[0]), "");
	begin(1, 100, 10, 0x7000, "first");
	called(1, 0, 30, "third");
	called(1, 0, 20, "second");	/* an event that came late */
	called(1, 0, 40, "third");
	thread = &threads.list[1];
	assert_int_equal(thread->name_count, 3);
	assert_string_equal(thread->names[0].text, "first");
	assert_string_equal(thread->names[1].text, "second");
	assert_int_equal(thread->names[2].since, 30);
	assert_string_equal(threads_name(thread), "third");
	/* longer than can be, and without an end */
	called(1, 0, 50, "0123456789abcdefgh");
	assert_string_equal(threads_name(&threads.list[1]), "0123456789abcde");
	threads_free(&threads);
}

/* By another thread, which knows its pthread_t only. */
static void named_by_others(void **state)
{
	(void)state;
	threads_init(&threads);
	begin(1, 100, 10, 0x7000, "main");
	begin(2, 101, 20, 0x8000, "old");
	begin(2, 102, 40, 0x8000, "new");
	called(1, 0x8000, 30, "older");
	called(1, 0x8000, 50, "newer");
	called(1, 0x9000, 50, "nobody");
	assert_string_equal(threads_name(&threads.list[2]), "older");
	assert_string_equal(threads_name(&threads.list[3]), "newer");
	assert_string_equal(threads_name(&threads.list[1]), "main");
	threads_free(&threads);
}

static void create(uint64_t pointer, uint64_t stamp, uint64_t took)
{
	uint64_t args[GT_EXTRA_ARGS] = { 0, took };
	struct trace_event event = {
		.kind = GT_EXTRA, .what = GT_EXTRA_CREATE, .stamp = stamp,
		.address = pointer, .args = args,
	};

	threads_extra(&threads, 1, &event);
}

static void creations(void **state)
{
	(void)state;
	threads_init(&threads);
	begin(1, 100, 1, 0x7000, "main");
	begin(2, 101, 1000, 0x8000, "");
	begin(2, 102, 2000, 0x8000, "");
	begin(2, 103, 5000, 0x8000, "");
	begin(2, 104, 6000, 0x9000, "");
	create(0x8000, 5010, 20);	/* in any order */
	create(0x8000, 2001, 5);	/* told when it already ran */
	create(0x8000, 10, 5);		/* long before its first event */
	create(0x8000, 3000, 5);	/* it never had one */
	create(0x9000, 6001, 0);	/* not known since when */
	threads_settle(&threads);
	assert_int_equal(threads_start(&threads.list[2]), 10);
	assert_int_equal(threads.list[2].creator, 1);
	assert_int_equal(threads_start(&threads.list[3]), 2000);
	assert_int_equal(threads.list[3].created, 2001);
	assert_int_equal(threads.list[4].created, 5010);
	assert_int_equal(threads.list[5].created, 0);
	assert_int_equal(threads.list[1].created, 0);
	threads_free(&threads);
}

static void why_plain(uint32_t ring, enum gt_mode_why why)
{
	struct trace_capture record = { .ring = ring };

	record.value[GT_CAPTURE_WHY] = why;
	threads_capture(&threads, &record);
}

static void without_memory(void **state)
{
	(void)state;
	threads_init(&threads);
	for (uint32_t ring = 1; ring <= 4; ring++)
		tell(GT_THREAD_START, ring, 100 + ring, 0, ring);
	assert_int_equal(threads_without_memory(&threads), 0);
	why_plain(1, GT_WHY_MEMORY);
	why_plain(2, GT_WHY_ASKED);
	why_plain(3, GT_WHY_MEMORY);
	assert_int_equal(threads_without_memory(&threads), 2);
	threads_free(&threads);
}

static void broken_lists_are_seen(void **state)
{
	uint32_t older, thread;

	(void)state;
	threads_init(&threads);
	tell(GT_THREAD_START, 3, 100, 0, 10);
	tell(GT_THREAD_END, 3, 100, 0, 20);
	tell(GT_THREAD_START, 3, 100, 0, 30);
	assert_true(threads_is_valid(&threads));
	older = threads.list[1].older_tid;
	threads.list[1].older_tid = 2; /* a younger one */
	assert_false(threads_is_valid(&threads));
	threads.list[1].older_tid = older;
	thread = threads.rings[0].thread;
	threads.rings[0].thread = 3; /* nobody */
	assert_false(threads_is_valid(&threads));
	threads.rings[0].thread = thread;
	assert_true(threads_is_valid(&threads));
	threads_free(&threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(of_nobody),
		cmocka_unit_test(told_twice),
		cmocka_unit_test(second_rings),
		cmocka_unit_test(names),
		cmocka_unit_test(named_by_others),
		cmocka_unit_test(creations),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(broken_lists_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
