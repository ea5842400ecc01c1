/*
 * test_close_from.c: descriptors from a number on are closed, those below stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/close_from.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

static void test_closes(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		dup2(0, 40);
		dup2(0, 41);
		dup2(0, 900);
		close_from(41);
		_exit(!is_open(40) || is_open(41) || is_open(900));
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_closes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
