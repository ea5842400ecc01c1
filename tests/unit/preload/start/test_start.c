// FLAGS: -DGNOMON_TARGET
/*
 * test_start.c: threads that come while another one starts the recorder. The
 * start itself is what the system tests are about: here it is forbidden. It
 * includes start.c, whose state nobody else has to see.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/start/start.c"

#define EVENTS 100
#define TRIES 20	/* on a busy machine it may come too late */

static uint64_t waited_ns(unsigned events)
{
	uint64_t begin = sys_now_ns();

	while (events--)
		assert_null(producer_thread());
	return sys_now_ns() - begin;
}

static int prepare(void **state)
{
	(void)state;
	unwind_ban = SECCOMP_NO_START;
	if (!producer) {
		assert_null(producer_thread());
		assert_non_null(producer);
		assert_int_equal(producer->state, PRODUCER_NEW);
	}
	producer->state = PRODUCER_STARTING;
	start->late = 0;
	producer->skipped = 0;
	return 0;
}

static int forget(void **state)
{
	(void)state;
	producer->state = PRODUCER_NEW;
	unwind_ban = 0;
	return 0;
}

/* Else each event of such a program took a second. */
static void stuck_starter_is_waited_for_once(void **state)
{
	uint64_t once;

	(void)state;
	start->thread = arch_thread_pointer() + 1;
	once = waited_ns(1);
	assert_true(once > SYS_NS / 2);
	assert_int_equal(start->late, 1);
	assert_true(waited_ns(EVENTS) < EVENTS * once / 4);
	assert_int_equal(producer->skipped, EVENTS + 1);
}

static void *comes_back(void *unused)
{
	usleep(1000);
	producer->state = PRODUCER_OFF;
	sys_futex_wake(&producer->state);
	return unused;
}

static void resuming_starter_is_waited_for(void **state)
{
	pthread_t starter;
	unsigned tries;

	start->late = 1;
	for (tries = 0; tries < TRIES && start->late; tries++) {
		prepare(state);
		start->thread = arch_thread_pointer() + 1;
		assert_int_equal(pthread_create(&starter, NULL, comes_back,
						NULL), 0);
		assert_null(producer_thread());
		assert_int_equal(pthread_join(starter, NULL), 0);
	}
	assert_int_equal(start->late, 0);
	assert_int_equal(producer->skipped, 0);
}

static void starter_does_not_wait_for_itself(void **state)
{
	(void)state;
	start->thread = arch_thread_pointer();
	waited_ns(EVENTS);
	assert_int_equal(start->late, 0);
	assert_int_equal(producer->skipped, EVENTS);
}

static void damaged_thread_is_invalid(void **state)
{
	static struct gl_header header;
	static struct gl_shared shared;
	static struct gl_thread report;
	static struct gl_ring rings[2];
	static struct thread threads[2];
	struct producer r = { .live = &header, .shared = &shared,
			      .rings = rings, .threads = threads };
	struct thread *thread = &threads[1];

	(void)state;
	rings[1].id = 1;
	*thread = (struct thread){
		.ring = &rings[1], .own = &rings[1], .shared = &shared,
		.report = &report,
	};
	assert_true(producer_thread_is_valid(&r, thread));
	thread->skip = THREAD_SAMPLES;
	assert_false(producer_thread_is_valid(&r, thread));
	thread->ring = NULL;
	assert_true(producer_thread_is_valid(&r, thread));
	thread->own = &rings[0];
	assert_false(producer_thread_is_valid(&r, thread));
	thread->own = &rings[1];
	thread->nested = &rings[1];
	assert_false(producer_thread_is_valid(&r, thread));
	thread->nested = NULL;
	thread->report = NULL;
	assert_false(producer_thread_is_valid(&r, thread));
	r.live = NULL;		/* a child */
	assert_true(producer_thread_is_valid(&r, thread));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			stuck_starter_is_waited_for_once, prepare, forget),
		cmocka_unit_test_setup_teardown(
			resuming_starter_is_waited_for, prepare, forget),
		cmocka_unit_test_setup_teardown(
			starter_does_not_wait_for_itself, prepare, forget),
		cmocka_unit_test(damaged_thread_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
