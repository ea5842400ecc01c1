/*
 * test_assertion.c: what an assertion that fails does: in the target it is
 * reported and nothing else happens, in our own programs it is an assert().
 */
#define GNOMON_TARGET
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/base/assertion.h"

static const char *from_code;
static unsigned times;

static void tell(const char *which)
{
	from_code = which;
	times++;
}

static void failed_assertion_is_reported(void **state)
{
	volatile unsigned two = 2;

	(void)state;
	assertion_notify = tell;
	assert_true(ASSERT(two == 2));
	assert_int_equal(times, 0);
	assert_false(ASSERT(two == 3));
	assert_int_equal(times, 1);
	assert_non_null(strstr(from_code,
			       "tests/unit/unwind/base/test_assertion.c:"));
	assert_non_null(strstr(from_code, ": two == 3"));
	DEBUG_ASSERT(two == 4);
	assert_non_null(strstr(from_code, ": two == 4"));
	assertion_notify = NULL;
}

/* Whoever embeds nothing is a test. */
static void without_an_embedder_a_failure_ends_the_process(void **state)
{
	volatile unsigned two = 2;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		signal(SIGILL, SIG_DFL);
		ASSERT(two == 3);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed_assertion_is_reported),
		cmocka_unit_test(
			without_an_embedder_a_failure_ends_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
