/*
 * test_skip.c: which events are recorded when a thread's state changes between
 * the two halves of a realloc, or while nothing is recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/gate_requests.h"
#include "preload/ring/area.h"
#include "preload/sample/skip.h"
#include "tests/unit/stepped.h"

static struct gl_header header;
static struct gl_shared shared;
static struct gl_ring ring;
static struct gl_thread report;
static struct thread thread;

static int each(void **state)
{
	(void)state;
	memset(&ring, 0, sizeof(ring));
	memset(&report, 0, sizeof(report));
	memset(&thread, 0, sizeof(thread));
	memset(&shared, 0, sizeof(shared));
	memset(producer, 0, sizeof(*producer));
	options_default(&producer_options);
	thread.ring = thread.own = &ring;
	thread.report = &report;
	producer->live = &header;
	producer->shared = &shared;
	producer->state = PRODUCER_ON;
	producer->pid = shared.recorder_tid = getpid();
	skip_start(0);
	skip_thread(&thread);
	producer_tls = &thread;
	return 0;
}

static int after(void **state)
{
	(void)state;
	producer_tls = NULL;
	memset(producer, 0, sizeof(*producer));
	return 0;
}

/* A handler deactivates the thread in the middle: the BEGIN was recorded on the
 * fast path, which remembers nothing. */
static void a_realloc_that_began_is_completed(void **state)
{
	(void)state;
	skip_set_inactive(producer, &thread, true);
	assert_int_equal(skip_block_kind(&thread, GT_REALLOC_DONE, 0x20, 16),
			 GT_REALLOC_DONE);
	/* the next one is left out */
	assert_int_equal(skip_block_kind(&thread, GT_ALLOC, 0x40, 16),
			 SKIP_EVENT);
}

static void a_failed_one_is_completed_too(void **state)
{
	(void)state;
	skip_set_inactive(producer, &thread, true);
	assert_int_equal(skip_address_kind(&thread, GT_REALLOC_FAILED, 0x20),
			 GT_REALLOC_FAILED);
}

static void reallocs_of_inactive_threads_end_blocks(void **state)
{
	(void)state;
	skip_set_inactive(producer, &thread, true);
	assert_int_equal(skip_address_kind(&thread, GT_REALLOC_BEGIN, 0x20),
			 GT_REALLOC_BEGIN);
	assert_int_equal(skip_block_kind(&thread, GT_REALLOC_DONE, 0x40, 16),
			 GT_REALLOC_FREED);
	assert_int_equal(thread.moving, 0);
}

static void nested_reallocs_end_in_order(void **state)
{
	(void)state;
	skip_set_limits(producer, 100, UINT64_MAX);
	skip_thread(&thread);
	assert_true(thread.skip & THREAD_SAMPLES);
	assert_int_equal(skip_address_kind(&thread, GT_REALLOC_BEGIN, 0x20),
			 GT_REALLOC_BEGIN);
	skip_push(&thread, SKIP_BEGIN_LEFT_OUT);	/* of a handler */
	assert_int_equal(skip_block_kind(&thread, GT_REALLOC_DONE, 0x40, 200),
			 GT_ALLOC);
	assert_int_equal(skip_block_kind(&thread, GT_REALLOC_DONE, 0x60, 200),
			 GT_REALLOC_DONE);
	assert_int_equal(thread.moving, 0);
}

static void sizes_are_not_counted_while_off(void **state)
{
	(void)state;
	skip_set_limits(producer, 100, UINT64_MAX);
	skip_thread(&thread);
	thread.skip = THREAD_SAMPLES | THREAD_CHECKS;
	assert_true(skip_block(GT_ALLOC, 16));
	assert_int_equal(report.rest[5][GT_REST_ALLOCATIONS], 1);
	gate_close(&shared);
	assert_true(skip_block(GT_ALLOC, 16));
	assert_int_equal(report.rest[5][GT_REST_ALLOCATIONS], 1);
	gate_open(&shared);
	assert_true(skip_block(GT_ALLOC, 16));
	assert_int_equal(report.rest[5][GT_REST_ALLOCATIONS], 2);
}

static void active_again(void)
{
	thread.skip = THREAD_CHANGED;
	thread.ring = NULL;
}

static void changed(void)
{
	producer_set_skip(&thread, THREAD_CHANGED, false);
}

static void deactivated(void)
{
	producer_set_skip(&thread, THREAD_INACTIVE, true);
}

static bool is_inactive(void)
{
	return thread.skip == THREAD_INACTIVE && thread.ring == NULL;
}

static void handlers_may_deactivate_at_any_point(void **state)
{
	const struct stepped each_step = {
		.before = active_again, .action = changed,
		.interrupt = deactivated, .right = is_inactive, .stride = 1,
	};

	unsigned at;

	(void)state;
	assert_true(stepped_each(&each_step, &at));
	assert_true(at > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_realloc_that_began_is_completed, each, after),
		cmocka_unit_test_setup_teardown(a_failed_one_is_completed_too,
						each, after),
		cmocka_unit_test_setup_teardown(
			reallocs_of_inactive_threads_end_blocks, each, after),
		cmocka_unit_test_setup_teardown(nested_reallocs_end_in_order,
						each, after),
		cmocka_unit_test_setup_teardown(sizes_are_not_counted_while_off,
						each, after),
		cmocka_unit_test_setup_teardown(
			handlers_may_deactivate_at_any_point, each, after),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	sample_alloc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
