/*
 * test_forbidden.c: threads that install filters at the same time: no system
 * call is allowed while one of them does, and no bit is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "preload/ring/area.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/producer.h"

#define THREADS 2
#define ROUNDS 200000
#define LOOKS 20

static struct gl_shared shared;
static pthread_barrier_t together;

static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	memset(producer, 0, sizeof(*producer));
	unwind_ban = 0;
	producer->shared = &shared;
	forbidden_report(producer);
	return 0;
}

/* Other threads' windows begin and end anywhere in relation to this one. */
static void pause_for(int round)
{
	volatile int left = round * 7919 % 97;

	while (left > 0)
		left--;
}

/* Returns how often a call was allowed in its window. */
static void *install(void *argument)
{
	uintptr_t allowed = 0;
	int i, look;

	(void)argument;
	pthread_barrier_wait(&together);
	for (i = 0; i < ROUNDS; i++) {
		pause_for(i);
		forbidden_before();
		for (look = 0; look < LOOKS; look++)
			allowed += unwind_may(UNWIND_NO_WAIT);
		forbidden_after(0, true);
	}
	return (void *)allowed;
}

/* Adds bits to whatever the others leave; returns how many were lost. */
static void *add(void *argument)
{
	static const uint32_t bits[] = { UNWIND_NO_PROBE, UNWIND_NO_FILES,
					 SECCOMP_NO_SOCKET, SECCOMP_NO_LOCK };
	uintptr_t lost = 0;
	int i;

	(void)argument;
	pthread_barrier_wait(&together);
	for (i = 0; i < ROUNDS; i++) {
		uint32_t bit = bits[i % 4];

		forbidden_add(bit);
		lost += unwind_may(bit);
		if (i % 4 == 3)		/* begins anew */
			atomic_fetch_and(&unwind_ban, ~(bits[0] | bits[1] |
							bits[2] | bits[3]));
	}
	return (void *)lost;
}

static _Atomic unsigned arrived;

/* All threads go on together, as nearly as that is possible. */
static void meet(unsigned step)
{
	atomic_fetch_add(&arrived, 1);
	while (arrived < THREADS * step)
		sched_yield();
}

/* Installs a filter when the others do; after each round all compare what the
 * recorder knows. Returns how often that was wrong. */
static void *install_together(void *argument)
{
	uintptr_t wrong = 0;
	unsigned step = 0;
	int i;

	(void)argument;
	pthread_barrier_wait(&together);
	for (i = 0; i < ROUNDS; i++) {
		meet(++step);
		forbidden_before();
		forbidden_after(0, true);
		meet(++step);
		wrong += shared.ban_known != 0;
	}
	return (void *)wrong;
}

static void run(void *(*first)(void *), void *(*other)(void *))
{
	pthread_t thread[THREADS];
	void *result;
	int i;

	arrived = 0;
	pthread_barrier_init(&together, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL,
						i ? other : first, NULL), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &result);
		assert_null(result);
	}
	pthread_barrier_destroy(&together);
}

static void nothing_is_allowed_meanwhile(void **state)
{
	(void)state;
	run(install, install);
	assert_true(unwind_may(SECCOMP_NO_ALL));
	assert_int_equal(shared.ban_known, 0);
}

static void no_bit_is_lost(void **state)
{
	(void)state;
	run(add, install);
	forbidden_add(UNWIND_NO_COPY);
	assert_int_equal(shared.ban_known, UNWIND_NO_COPY);
	assert_true(unwind_may(SECCOMP_NO_ALL & ~UNWIND_NO_COPY));
}

static void the_last_change_reaches_the_recorder(void **state)
{
	(void)state;
	run(install_together, install_together);
}

static void a_window_inside_another_ends_alone(void **state)
{
	(void)state;
	forbidden_before();
	forbidden_before();
	forbidden_after(UNWIND_NO_WAIT, true);
	assert_false(unwind_may(UNWIND_NO_COPY));
	assert_int_equal(shared.ban_known, SECCOMP_NO_ALL);
	forbidden_after(0, false);
	assert_true(unwind_may(UNWIND_NO_COPY));
	assert_false(unwind_may(UNWIND_NO_WAIT));
	assert_int_equal(shared.ban_known, UNWIND_NO_WAIT);
}

static void what_the_recorder_found_counts(void **state)
{
	(void)state;
	shared.ban_found = UNWIND_NO_WAIT | 2 * UNWIND_BAN_PENDING;
	assert_false(unwind_may(UNWIND_NO_WAIT));
	assert_true(unwind_may(UNWIND_NO_COPY));	/* no calls of ours */
	forbidden_take_over();
	assert_int_equal(unwind_ban, UNWIND_NO_WAIT);
	assert_int_equal(shared.ban_known, UNWIND_NO_WAIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_allowed_meanwhile, each),
		cmocka_unit_test_setup(no_bit_is_lost, each),
		cmocka_unit_test_setup(the_last_change_reaches_the_recorder,
				       each),
		cmocka_unit_test_setup(a_window_inside_another_ends_alone,
				       each),
		cmocka_unit_test_setup(what_the_recorder_found_counts, each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
