/* test_pathname.c: names of files, whether they fit, and their last part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "cli/recorder/base/pathname.h"

static void fits(void **state)
{
	char path[16];

	(void)state;
	memset(path, 'x', sizeof(path));
	assert_true(pathname_print(path, 8, "%s/%d", "/ab", 123));
	assert_string_equal(path, "/ab/123");
	assert_false(pathname_print(path, 8, "%s/%d", "/ab", 1234));
	assert_string_equal(path, "/ab/123");
	assert_int_equal(path[8], 'x');
	assert_true(pathname_print(path, 1, "%s", ""));
	assert_string_equal(path, "");
}

static void base(void **state)
{
	(void)state;
	assert_string_equal(pathname_base("/usr/lib/libz.so"), "libz.so");
	assert_string_equal(pathname_base("libz.so"), "libz.so");
	assert_string_equal(pathname_base("/usr/"), "");
	assert_string_equal(pathname_base(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits),
		cmocka_unit_test(base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
