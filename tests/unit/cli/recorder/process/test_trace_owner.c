/* test_trace_owner.c: whether a process was started by one that writes to the
 * same pattern, as that one's environment says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recorder/process/trace_owner.h"

#define LONG 20000	/* several reads, and more than a variable compared */

/* A shell with these variables, and its child. */
static bool is_child(const char *first, const char *output, const char *preload,
		     const char *pattern)
{
	char *const env[] = { (char *)first, (char *)output, (char *)preload,
			      NULL };
	char digits[32] = "";
	int out[2], shell;
	bool is;

	assert_int_equal(pipe(out), 0);
	shell = fork();
	if (shell == 0) {
		dup2(out[1], 1);
		dup2(open("/dev/null", O_RDWR), 2);
		close(out[0]);
		/* its child ends with the pipe that it waits for */
		execle("/bin/sh", "sh", "-c", "sleep 1000 >&2 & echo $!; wait",
		       NULL, env);
		_exit(127);
	}
	close(out[1]);
	assert_true(read(out[0], digits, sizeof(digits) - 1) > 0);
	is = trace_owner_is_child(atoi(digits), pattern);
	kill(atoi(digits), SIGKILL);
	waitpid(shell, NULL, 0);
	close(out[0]);
	return is;
}

#define OUTPUT "GNOMON_OUTPUT=/tmp/%p"
#define PRELOAD "LD_PRELOAD=/nonexistent/libgnomon.so"

static void by_its_variables(void **state)
{
	(void)state;
	assert_true(is_child("A=1", OUTPUT, PRELOAD, "/tmp/%p"));
	assert_false(is_child("A=1", OUTPUT, PRELOAD, "/tmp/%"));
	assert_false(is_child("A=1", OUTPUT, PRELOAD, "/tmp/%p1"));
	assert_false(is_child("A=1", OUTPUT, "LD_PRELOAD=", "/tmp/%p"));
	assert_false(is_child("A=1", OUTPUT, "B=2", "/tmp/%p"));
	assert_false(is_child("A=1", "B=2", PRELOAD, "/tmp/%p"));
}

/* What is at the end of a long one is none of them, and what is behind is. */
static void behind_a_long_one(void **state)
{
	static char variable[LONG + sizeof(OUTPUT)];

	(void)state;
	memset(variable, 'a', LONG);
	variable[1] = '=';
	assert_true(is_child(variable, OUTPUT, PRELOAD, "/tmp/%p"));
	strcpy(variable + LONG, OUTPUT);
	assert_false(is_child(variable, "B=2", PRELOAD, "/tmp/%p"));
	/* a name that a read ends within */
	variable[4096 - 8] = '\0';
	assert_true(is_child(variable, OUTPUT, PRELOAD, "/tmp/%p"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_its_variables),
		cmocka_unit_test(behind_a_long_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
