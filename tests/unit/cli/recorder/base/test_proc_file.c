/* test_proc_file.c: short files as a whole, and those of a process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"

static void of_a_process(void **state)
{
	char text[512], wanted[32];

	(void)state;
	assert_true(proc_file_is_ours());
	assert_true(proc_file_read_of(getpid(), "stat", text,
				      sizeof(text)) > 0);
	snprintf(wanted, sizeof(wanted), "%d (", getpid());
	assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
	assert_int_equal(proc_file_read_of(getpid(), "none", text,
					   sizeof(text)), -ENOENT);
}

static void cut(void **state)
{
	char name[] = "/tmp/gnomon-unit-proc.XXXXXX", text[16];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	memset(text, 'x', sizeof(text));
	assert_int_equal(proc_file_read(name, text, 5), 4);
	assert_string_equal(text, "0123");
	assert_int_equal(text[5], 'x');
	assert_int_equal(proc_file_read(name, text, sizeof(text)), 10);
	assert_string_equal(text, "0123456789");
	close(fd);
	unlink(name);
}

static void nothing(void **state)
{
	char text[8] = "before";

	(void)state;
	assert_int_equal(proc_file_read("/proc/none", text, sizeof(text)),
			 -ENOENT);
	strcpy(text, "before");
	assert_int_equal(proc_file_read("/", text, sizeof(text)), -EISDIR);
	assert_string_equal(text, "");
	assert_int_equal(proc_file_read("/dev/null", text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_process),
		cmocka_unit_test(cut),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
