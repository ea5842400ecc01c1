/* test_failure.c: what failed, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/base/failure.h"

static void words(void **state)
{
	char number[FAILURE_NUMBER];

	(void)state;
	assert_string_equal(failure_words(ENOSPC, number),
			    "no space left on device");
	assert_string_equal(failure_words(-ENOSPC, number),
			    "no space left on device");
	assert_string_equal(failure_words(-ESPIPE, number), "error 29");
	assert_string_equal(failure_words(INT32_MAX, number),
			    "error 2147483647");
}

static void messages(void **state)
{
	char message[64];

	(void)state;
	failure_message(message, sizeof(message), "cannot record", "/a/b",
			-EROFS);
	assert_string_equal(message,
			    "cannot record: /a/b: read-only file system");
	failure_message(message, sizeof(message), "cannot record", NULL, -1000);
	assert_string_equal(message, "cannot record: error 1000");
}

static void cut(void **state)
{
	char message[16];

	(void)state;
	memset(message, 'x', sizeof(message));
	failure_message(message, 8, "cannot record", "/a/b", -EROFS);
	assert_string_equal(message, "cannot ");
	assert_int_equal(message[8], 'x');
	failure_print(message, 8, "%s %d", "limit", 12);
	assert_string_equal(message, "limit 1");
	assert_int_equal(message[8], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(messages),
		cmocka_unit_test(cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
