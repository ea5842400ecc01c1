/*
 * test_request.c: questions, in a process that cannot keep signals out of them.
 * A thread of the test plays the recorder.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/request.h"
#include "preload/ring/producer.h"
#include "unwind/base/memory.h"

static struct gl_shared shared;
static _Atomic int holds_back, stop;
static pthread_t answerer, asker;
static sigjmp_buf back;
static bool nested;

/* As requests_poll: one more than the first argument, and than each byte. */
static void answer(struct gl_request *request)
{
	uint32_t posted = GL_REQUEST_POSTED;

	if (!atomic_compare_exchange_strong(&request->state, &posted,
					    GL_REQUEST_TAKEN))
		return;
	request->result = request->arg[0] + 1;
	for (uint32_t i = 0; i < request->bytes; i++)
		request->data[i]++;
	atomic_store(&request->state, GL_REQUEST_DONE);
	sys_futex_wake(&request->state);
}

static void *answers(void *unused)
{
	(void)unused;
	while (!stop) {
		if (!holds_back)
			answer(&shared.request);
		sched_yield();
	}
	return NULL;
}

static int start(void **state)
{
	(void)state;
	memset(producer, 0, sizeof(*producer));
	producer->shared = &shared;
	shared.recorder_tid = getpid();
	memset(&shared.request, 0, sizeof(shared.request));
	producer->state = PRODUCER_ON;
	stop = holds_back = 0;
	unwind_ban = 0;
	return pthread_create(&answerer, NULL, answers, NULL);
}

static int end(void **state)
{
	(void)state;
	stop = 1;
	unwind_ban = 0;
	return pthread_join(answerer, NULL);
}

static bool turn(long number, long *result)
{
	const struct request_args question = { .what = REQUEST_CALL,
					       .arg = { number } };

	*result = 0;
	return request_make(producer, &question, result);
}

static void requests_are_answered_in_turn(void **state)
{
	long result, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_true(turn(i, &result));
		assert_int_equal(result, i + 1);
	}
	assert_int_equal(request_turn->holder, 0);
}

/* There and back by value, as nobody can read the asker's memory. */
static void data_is_copied_both_ways(void **state)
{
	char there[] = "HAL", more[4] = "", back[sizeof(there)];
	struct request_args question = {
		.what = REQUEST_CALL, .data = there, .bytes = 3, .back = back,
		.more = more, .more_bytes = 3,
	};
	long result;

	(void)state;
	memset(shared.request.data, '@', 8);
	assert_true(request_make(producer, &question, &result));
	assert_memory_equal(back, "IBM", 3);
	assert_memory_equal(more, "AAA", 3);
	assert_string_equal(there, "HAL");
	question.more_bytes = GL_REQUEST_ROOM - 2;	/* one too many */
	assert_false(request_make(producer, &question, &result));
	assert_int_equal(shared.request.state, GL_REQUEST_IDLE);
}

static void *goes(void *unused)
{
	while (shared.request.state != GL_REQUEST_POSTED)
		sched_yield();
	shared.recorder_tid |= GL_RECORDER_GONE;
	return unused;
}

/* Before, and while it is asked. */
static void a_recorder_that_has_gone_is_not_waited_for(void **state)
{
	pthread_t by;
	long result;

	(void)state;
	holds_back = 1;
	assert_int_equal(pthread_create(&by, NULL, goes, NULL), 0);
	assert_false(turn(1, &result));
	pthread_join(by, NULL);
	assert_false(turn(1, &result));
	assert_int_equal(request_turn->holder, 0);
}

/* Once there is a question: a signal for who has asked it. */
static void *interrupts(void *unused)
{
	(void)unused;
	while (request_turn->holder < 4096 || !request_turn->cfa)
		sched_yield();
	pthread_kill(asker, SIGUSR1);
	return NULL;
}

static void on_jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void on_ask(int number)
{
	long result;

	(void)number;
	nested = turn(1, &result);
	holds_back = 0;
}

static void interrupted_by(void (*handler)(int), pthread_t *by)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	asker = pthread_self();
	holds_back = 1;
	pthread_create(by, NULL, interrupts, NULL);
}

/* As it was: neither sooner nor later than it is left. */
static void abandoned_request_is_withdrawn(void **state)
{
	pthread_t by;
	long result;

	(void)state;
	unwind_ban = UNWIND_NO_PROBE;
	if (!sigsetjmp(back, 1)) {
		interrupted_by(on_jump, &by);
		turn(1, &result);
		fail();
	}
	pthread_join(by, NULL);
	assert_int_equal(request_turn->holder, arch_thread_pointer());
	holds_back = 0;
	assert_true(turn(41, &result));
	assert_int_equal(result, 42);
	assert_int_equal(request_turn->holder, 0);
}

static void nested_request_is_refused(void **state)
{
	pthread_t by;
	long result;

	(void)state;
	unwind_ban = UNWIND_NO_PROBE;
	nested = true;
	interrupted_by(on_ask, &by);
	assert_true(turn(41, &result));
	assert_int_equal(result, 42);
	assert_false(nested);
	pthread_join(by, NULL);
}

static void damaged_request_is_invalid(void **state)
{
	struct gl_request request = { .state = GL_REQUEST_IDLE };
	struct request_turn turn = { .holder = arch_thread_pointer() };

	(void)state;
	assert_true(request_is_valid(&turn, &request));
	request.state = GL_REQUEST_TAKEN;	/* of somebody else */
	assert_false(request_is_valid(&turn, &request));
	turn.holder = 0;
	assert_true(request_is_valid(&turn, &request));
	request.state = GL_REQUEST_DONE + 1;
	assert_false(request_is_valid(&turn, &request));
	request.state = GL_REQUEST_IDLE;
	turn.cfa = 16;
	assert_false(request_is_valid(&turn, &request));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_are_answered_in_turn,
						start, end),
		cmocka_unit_test_setup_teardown(data_is_copied_both_ways,
						start, end),
		cmocka_unit_test_setup_teardown(
			a_recorder_that_has_gone_is_not_waited_for, start, end),
		cmocka_unit_test_setup_teardown(abandoned_request_is_withdrawn,
						start, end),
		cmocka_unit_test_setup_teardown(nested_request_is_refused,
						start, end),
		cmocka_unit_test(damaged_request_is_invalid),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	request_alloc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
