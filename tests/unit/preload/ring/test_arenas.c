// FLAGS: -lpthread
/* test_arenas.c: who answers what the allocator holds, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "cli/recorder/arenas_request.h"
#include "preload/ring/arenas.h"
#include "cli/recorder/base/recording.h"
#include "preload/ring/ring.h"
#include "tests/unit/test_unwinder.h"

static struct producer r;
static struct recording w;	/* the recorder's */
static struct gl_shared shared;
static struct gl_header header;
static struct gl_ring ring;
static struct arenas got;
static unsigned asked;
static char alone;

static void told(uint64_t value[GT_ARENAS_VALUES])
{
	unsigned i;

	for (i = 1; i < GT_ARENAS_VALUES; i++)
		value[i] = i;
	asked++;
	errno = 0;
}

static int each(void **state)
{
	(void)state;
	memset(&r, 0, sizeof(r));
	memset(&shared, 0, sizeof(shared));
	r.shared = &shared;
	memset(&ring, 0, sizeof(ring));
	arenas_source.take = told;
	/* whatever the C library says of this program, which has threads */
	arenas_source.alone = &alone;
	alone = 1;
	r.live = &header;
	w.shared = &shared;
	w.live = &header;
	header.window_ticks = 10000;
	asked = 0;
	return 0;
}

static void next_event_answers(void **state)
{
	unsigned i;

	(void)state;
	arenas_request(&w);
	assert_int_equal(shared.turn, RING_ASKED);
	assert_false(arenas_collect(&w, ARENAS_RUNNING, &got));
	ring_stamp(&shared, &ring);
	assert_int_equal(shared.turn, 0);
	assert_int_equal(asked, 1);
	ring_stamp(&shared, &ring);
	assert_int_equal(asked, 1);
	assert_false(arenas_collect(&w, ARENAS_LAST, &got));
	assert_true(arenas_collect(&w, ARENAS_RUNNING, &got));
	for (i = 1; i < GT_ARENAS_VALUES; i++)
		assert_int_equal(got.value[i], i);
	assert_true(got.stamp != 0);
	assert_false(arenas_collect(&w, ARENAS_RUNNING, &got));
}

static void request_takes_the_turn_away(void **state)
{
	uint64_t own = (uintptr_t)&ring, stamp;

	(void)state;
	shared.turn = own | RING_OFFERED;
	ring_stamp(&shared, &ring);
	assert_int_equal(shared.turn, own);
	stamp = ring.stamp;
	ring.head = RING_STAMP_FOR;
	ring_stamp(&shared, &ring);
	assert_int_equal(ring.stamp, stamp);
	arenas_request(&w);
	assert_false(ring_stamp_fast(&shared, &ring));
	ring_stamp(&shared, &ring);
	assert_true(ring.stamp > stamp);
	assert_int_equal(asked, 1);
}

static void request_can_be_withdrawn(void **state)
{
	(void)state;
	arenas_request(&w);
	arenas_forget(&w);
	assert_int_equal(shared.turn, 0);
	ring_stamp(&shared, &ring);
	arenas_answer(&shared);
	assert_int_equal(asked, 0);
	/* not what is there already */
	arenas_request(&w);
	ring_stamp(&shared, &ring);
	arenas_request(&w);
	assert_int_equal(shared.turn, 0);
	arenas_forget(&w);
	assert_true(arenas_collect(&w, ARENAS_RUNNING, &got));
}

static void handler(int number)
{
	(void)number;
	ring_stamp(&shared, &ring);
}

static void handlers_do_not_query(void **state)
{
	sigset_t before = { { 0 } }, after = { { 0 } };

	(void)state;
	signal(SIGUSR1, handler);
	arenas_request(&w);
	raise(SIGUSR1);
	assert_int_equal(asked, 0);
	/* asked again, of the same thread elsewhere */
	assert_int_equal(shared.turn, 0);
	arenas_request(&w);
	assert_int_equal(shared.turn, RING_ASKED);
	sigprocmask(SIG_SETMASK, NULL, &before);
	ring_stamp(&shared, &ring);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(asked, 1);
	assert_memory_equal(&before, &after, sizeof(before));
}

static void *other(void *arg)
{
	ring_stamp(&shared, arg);
	return arg;
}

static void any_thread_can_query(void **state)
{
	struct gl_ring theirs;
	pthread_t thread;

	(void)state;
	memset(&theirs, 0, sizeof(theirs));
	arenas_request(&w);
	pthread_create(&thread, NULL, other, &theirs);
	pthread_join(thread, NULL);
	assert_int_equal(asked, 1);
	arenas_leave(&r);
	assert_int_equal(asked, 2);
	arenas_leave(&r);
	assert_int_equal(asked, 2);
	assert_true(arenas_collect(&w, ARENAS_LAST, &got));
}

static void large_heap_is_not_queried_at_the_end(void **state)
{
	(void)state;
	/* so far it has run for some 2 ms */
	header.counter0 = arch_cycles() - 1000 * header.window_ticks;
	shared.live_blocks = 10000;
	assert_int_equal(arenas_estimate_ns(&shared), 6000000);
	arenas_leave(&r);
	assert_int_equal(asked, 0);
	shared.live_blocks = 10;
	arenas_leave(&r);
	assert_int_equal(asked, 1);
}

/* Another thread may hold a lock, for as long as it likes. */
static void no_query_while_other_threads_exist(void **state)
{
	(void)state;
	arenas_report(&shared);
	assert_int_equal(shared.arenas_can, ARENAS_ALONE);
	arenas_request(&w);
	alone = 0;
	/* who finds out says so */
	ring_stamp(&shared, &ring);
	assert_int_equal(shared.arenas_can, ARENAS_THREADS);
	arenas_leave(&r);
	assert_int_equal(asked, 0);
	arenas_source.alone = NULL;
	arenas_report(&shared);
	assert_int_equal(shared.arenas_can, ARENAS_THREADS);
	arenas_leave(&r);
	assert_int_equal(asked, 0);
}

static void first_thread_is_reported_before_it_runs(void **state)
{
	(void)state;
	arenas_report_threads(&shared);
	assert_int_equal(shared.arenas_can, ARENAS_FOREIGN);
	arenas_report(&shared);
	arenas_report_threads(&shared);
	assert_int_equal(shared.arenas_can, ARENAS_THREADS);
}

static void *on_fiber_stack;

static void fiber(void)
{
	ring_stamp(&shared, &ring);
}

/* A handler may have switched to it. */
static void no_query_on_a_fibers_stack(void **state)
{
	static ucontext_t here, there;
	/* the C library's: ours is not for a program without hooks */
	int (*change)(ucontext_t *from, const ucontext_t *to) =
		(int (*)(ucontext_t *, const ucontext_t *))dlsym(RTLD_DEFAULT,
							"swapcontext");

	(void)state;
	assert_non_null(change);
	on_fiber_stack = test_unwinder_alloc(1 << 20);
	getcontext(&there);
	there.uc_stack.ss_sp = on_fiber_stack;
	there.uc_stack.ss_size = 1 << 20;
	there.uc_link = &here;
	makecontext(&there, fiber, 0);
	arenas_request(&w);
	change(&here, &there);
	assert_int_equal(shared.turn, 0);
	assert_int_equal(asked, 0);
}

static void foreign_allocator_is_not_queried(void **state)
{
	(void)state;
	arenas_source.take = NULL;
	arenas_report(&shared);
	assert_int_equal(shared.arenas_can, ARENAS_FOREIGN);
	arenas_request(&w);
	ring_stamp(&shared, &ring);
	assert_int_equal(shared.turn, 0);
	assert_false(arenas_collect(&w, ARENAS_RUNNING, &got));
}

static int embed(void **state)
{
	(void)state;
	return test_unwinder_init(CAPTURE_VALIDATE, 0);
}

static void damaged_values_are_invalid(void **state)
{
	struct arenas arenas = { .state = ARENAS_TAKEN, .stamp = 1 };

	(void)state;
	assert_true(arenas_is_valid(&arenas));
	arenas.stamp = 0;		/* I1 */
	assert_false(arenas_is_valid(&arenas));
	arenas.state = ARENAS_ASKED;
	assert_true(arenas_is_valid(&arenas));
	arenas.state = ARENAS_TAKEN + 1;
	arenas.stamp = 1;
	assert_false(arenas_is_valid(&arenas));
}

static void *all(void *failures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_values_are_invalid),
		cmocka_unit_test_setup(next_event_answers, each),
		cmocka_unit_test_setup(request_takes_the_turn_away, each),
		cmocka_unit_test_setup(request_can_be_withdrawn, each),
		cmocka_unit_test_setup(handlers_do_not_query, each),
		cmocka_unit_test_setup(any_thread_can_query, each),
		cmocka_unit_test_setup(large_heap_is_not_queried_at_the_end,
				       each),
		cmocka_unit_test_setup(no_query_while_other_threads_exist,
				       each),
		cmocka_unit_test_setup(
			first_thread_is_reported_before_it_runs, each),
		cmocka_unit_test_setup(no_query_on_a_fibers_stack, each),
		cmocka_unit_test_setup(foreign_allocator_is_not_queried, each),
	};

	*(int *)failures = cmocka_run_group_tests(tests, embed, NULL);
	return NULL;
}

/* In a thread whose stack's beginning is known: of the main one, the recorder
 * knows it. */
int main(void)
{
	pthread_t thread;
	int failures = 1;

	pthread_create(&thread, NULL, all, &failures);
	pthread_join(thread, NULL);
	return failures;
}
