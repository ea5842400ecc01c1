/* test_options_agree.c: options that contradict each other, and outputs that are
 * descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "preload/base/options_agree.h"

static struct options options;

static int each(void **state)
{
	(void)state;
	options_default(&options);
	return 0;
}

static void descriptors_are_recognised(void **state)
{
	(void)state;
	assert_int_equal(options_descriptor("/dev/stdout"), 1);
	assert_int_equal(options_descriptor("-"), 1);
	assert_int_equal(options_descriptor("/dev/stderr"), 2);
	assert_int_equal(options_descriptor("/dev/fd/17"), 17);
	assert_int_equal(options_descriptor("/proc/self/fd/3"), 3);
	assert_int_equal(options_descriptor("/dev/fd/"), -1);
	assert_int_equal(options_descriptor("/dev/fd/3x"), -1);
	assert_int_equal(options_descriptor("/dev/fd/-3"), -1);
	assert_int_equal(options_descriptor("/dev/fd/99999999999"), -1);
	assert_int_equal(options_descriptor("/dev/fd/2147483648"), -1);
	assert_int_equal(options_descriptor("/dev/stdout2"), -1);
	assert_int_equal(options_descriptor("a.trace"), -1);
	assert_int_equal(options_descriptor(""), -1);
}

static void set(enum option_id id, const char *value)
{
	assert_int_equal(options_set(&options, id, value), 0);
}

static void sizes_have_an_order(void **state)
{
	(void)state;
	assert_null(options_disagree(&options));
	set(OPTION_MIN_SIZE, "100");
	set(OPTION_MAX_SIZE, "100");
	assert_null(options_disagree(&options));
	set(OPTION_MIN_SIZE, "101");
	assert_non_null(strstr(options_disagree(&options), "--min-size"));
}

/* What reads the trace once more, or keeps parts of it, wants a file. */
static void some_want_a_file(void **state)
{
	static const struct {
		enum option_id id;
		const char *name, *value;
	} wants[] = { { OPTION_REPORT, "--report", "1s" },
		      { OPTION_LIMIT, "--limit", "1G" } };
	static const char *const none[] = { "-", "/dev/stdout", "/dev/fd/7",
					    "/proc/self/fd/7" };
	unsigned i, j;

	for (i = 0; i < 2; i++) {
		each(state);
		set(OPTION_OUTPUT, "a.trace");
		set(wants[i].id, wants[i].value);
		assert_null(options_disagree(&options));
		for (j = 0; j < sizeof(none) / sizeof(*none); j++) {
			set(OPTION_OUTPUT, none[j]);
			assert_non_null(strstr(options_disagree(&options),
					       wants[i].name));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_are_recognised),
		cmocka_unit_test_setup(sizes_have_an_order, each),
		cmocka_unit_test_setup(some_want_a_file, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
