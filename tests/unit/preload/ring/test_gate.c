/*
 * The gate: requests of handlers are served once each, in the order of their
 * stamps, and it is not closed while one was not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "cli/recorder/gate_requests.h"
#include "preload/ring/gate.h"
#include "preload/ring/ring.h"

#define THREADS 4
#define EACH 20000
#define APART 1000000	/* cycles: less than a preempted thread would lose */

static struct gl_shared shared;

static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	return 0;
}

static bool is_closed(void)
{
	return shared.gate & GATE_CLOSED;
}

static void take(enum gate_what what)
{
	struct gate_request request;

	assert_true(gate_next(&shared, &request));
	assert_int_equal(request.what, what);
	gate_take(&shared);
}

static void toggle_opens_the_gate(void **state)
{
	struct gate_request request;

	(void)state;
	gate_close(&shared);
	assert_true(is_closed());
	assert_true(gate_post(&shared, GATE_CLEAR));
	assert_true(is_closed());
	assert_true(gate_post(&shared, GATE_TOGGLE));
	assert_false(is_closed());
	take(GATE_CLEAR);
	gate_close(&shared);
	assert_false(is_closed());
	take(GATE_TOGGLE);
	assert_false(gate_next(&shared, &request));
	gate_close(&shared);
	assert_true(is_closed());
	gate_open(&shared);
	assert_false(is_closed());
}

static void closed_for_good_never_opens(void **state)
{
	(void)state;
	gate_close_for_good(&shared);
	assert_true(gate_post(&shared, GATE_TOGGLE));
	gate_open(&shared);
	assert_true(is_closed());
}

static void requests_without_a_slot_are_refused(void **state)
{
	unsigned i, lap;

	(void)state;
	for (lap = 0; lap < 3; lap++) {
		for (i = 0; i < GATE_SLOTS; i++)
			assert_true(gate_post(&shared, GATE_TOGGLE));
		assert_false(gate_post(&shared, GATE_TOGGLE));
		assert_int_equal(shared.posted.refused, lap + 1);
		for (i = 0; i < GATE_SLOTS; i++)
			take(GATE_TOGGLE);
		assert_false(gate_pending(&shared));
	}
}

static void request_takes_the_turn_away(void **state)
{
	(void)state;
	shared.turn = 64;
	assert_true(gate_post(&shared, GATE_TOGGLE));
	assert_int_equal(shared.turn, 0);
	shared.turn = RING_ASKED;
	assert_true(gate_post(&shared, GATE_TOGGLE));
	assert_int_equal(shared.turn, RING_ASKED);
}

/* ---- handlers of several threads, which interrupt each other's ---- */

static _Atomic unsigned long posted, refused;
static _Atomic unsigned ended;
static bool closed, behind;

static bool post(void)
{
	bool done = gate_post(&shared, GATE_TOGGLE);

	atomic_fetch_add(done ? &posted : &refused, 1);
	return done;
}

static void interrupted(int number)
{
	(void)number;
	post();
}

static void *poster(void *arg)
{
	pthread_t *next = arg;
	unsigned i;

	for (i = 0; i < EACH; i++) {
		while (!post())
			sched_yield();
		/* amid what the other one is doing */
		if (i % 4 == 0)
			pthread_kill(*next, SIGUSR1);
	}
	atomic_fetch_add(&ended, 1);
	while (ended < THREADS)
		sched_yield();
	return NULL;
}

static void requests_are_taken_once_in_order(void **state)
{
	pthread_t threads[THREADS + 1] = { 0 };
	struct sigaction action = { .sa_handler = interrupted };
	struct gate_request request;
	unsigned long taken = 0;
	uint64_t last = 0;
	unsigned i;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i <= THREADS; i++)
		threads[i] = pthread_self();
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, poster, &threads[i ? i - 1 :
								 THREADS]);
	while (ended < THREADS || gate_pending(&shared)) {
		if (!gate_next(&shared, &request)) {
			gate_close(&shared);
			continue;
		}
		/* two processors' counters, and reads out of order */
		behind |= request.cycles + APART < last;
		/* nothing is left out while one waits */
		gate_close(&shared);
		closed |= is_closed();
		last = request.cycles;
		gate_take(&shared);
		taken++;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (gate_next(&shared, &request)) {
		gate_take(&shared);
		taken++;
	}
	assert_false(closed);
	assert_false(behind);
	assert_int_equal(taken, posted);
	assert_int_equal(refused, shared.posted.refused);
	assert_true(posted >= (unsigned long)THREADS * EACH);
}

static void damaged_gate_is_invalid(void **state)
{
	(void)state;
	assert_true(gate_post(&shared, GATE_TOGGLE));
	assert_true(gate_is_valid(&shared));
	shared.posted.taken = 2;
	assert_false(gate_is_valid(&shared));
	shared.posted.taken = 0;
	shared.gate = GATE_SLOTS * GATE_ONE;
	assert_true(gate_is_possible(&shared));
	shared.gate = (GATE_SLOTS + 1) * GATE_ONE;
	assert_false(gate_is_possible(&shared));
	assert_false(gate_is_valid(&shared));
	shared.gate = GATE_CLOSED_FOR_GOOD;
	assert_false(gate_is_valid(&shared));
	shared.gate = GATE_CLOSED_FOR_GOOD | GATE_CLOSED;
	assert_true(gate_is_valid(&shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(toggle_opens_the_gate, each),
		cmocka_unit_test_setup(closed_for_good_never_opens, each),
		cmocka_unit_test_setup(requests_without_a_slot_are_refused,
				       each),
		cmocka_unit_test_setup(request_takes_the_turn_away, each),
		cmocka_unit_test_setup(requests_are_taken_once_in_order, each),
		cmocka_unit_test_setup(damaged_gate_is_invalid, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
