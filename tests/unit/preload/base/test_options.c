/* test_options.c: the table of recording options and how values are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "preload/base/options.h"

static void sizes_are_powers_of_1024(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} right[] = {
		{ "0", 0 }, { "4096", 4096 }, { "64k", 65536 },
		{ "64K", 65536 }, { "64KiB", 65536 }, { "64kb", 65536 },
		{ "1.5M", 1536 << 10 }, { "2G", UINT64_C(2) << 30 },
		{ "0.25k", 256 }, { "1t", UINT64_C(1) << 40 },
	};
	static const char *const wrong[] = {
		"", "k", "-1", "64q", "64kk", "1.5.2M", " 4", "4 ",
		"99999999999999999999", "99999999999T", "0x10",
	};
	uint64_t bytes;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(*right); i++) {
		assert_int_equal(options_size(right[i].text, &bytes), 0);
		assert_int_equal(bytes, right[i].bytes);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(options_size(wrong[i], &bytes), -EINVAL);
}

static void times_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {
		{ "none", 0 }, { "0s", 0 }, { "5ns", 5 }, { "7us", 7000 },
		{ "250ms", 250000000 }, { "10s", UINT64_C(10000000000) },
		{ "1.5s", 1500000000 }, { "0.000001s", 1000 },
		{ "1.0000019s", 1000001000 }, { "2m", UINT64_C(120000000000) },
		{ "2min", UINT64_C(120000000000) },
		{ "1h2m", UINT64_C(3720000000000) },
		{ "1d1ns", UINT64_C(86400000000001) },
	};
	static const char *const wrong[] = {
		"", "5", "s", "1x", "-1s", "1s2", " 1s", "1s ", "1..5s", ".5s",
		"99999999999999999999s", "9999999999d", "none1s", "1 s",
		"18446744073s18446744073s",
	};
	uint64_t ns;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(*right); i++) {
		assert_int_equal(options_time(right[i].text, &ns), 0);
		assert_int_equal(ns, right[i].ns);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(options_time(wrong[i], &ns), -EINVAL);
}

static void snapshots_have_limits(void **state)
{
	struct options o;

	(void)state;
	options_default(&o);
	assert_int_equal(o.number[OPTION_SNAPSHOT_EVERY], 0);
	assert_int_equal(options_set(&o, OPTION_SNAPSHOT_EVERY, "20ms"), 0);
	assert_int_equal(o.number[OPTION_SNAPSHOT_EVERY], 20000000);
	assert_int_equal(options_set(&o, OPTION_SNAPSHOT_EVERY, "9ms"),
			 -ERANGE);
	assert_int_equal(options_set(&o, OPTION_SNAPSHOT_EVERY, "367d"),
			 -ERANGE);
	assert_int_equal(o.number[OPTION_SNAPSHOT_EVERY], 20000000);
	assert_int_equal(options_set(&o, OPTION_SNAPSHOT_EVERY, "none"), 0);
	assert_int_equal(o.number[OPTION_SNAPSHOT_EVERY], 0);
}

static void defaults_are_the_tables(void **state)
{
	struct options o;

	(void)state;
	options_default(&o);
	assert_string_equal(options_text(&o, OPTION_OUTPUT), "gnomon.%e.%p.trace");
	assert_string_equal(options_text(&o, OPTION_LIVE_DIR), "");
	assert_int_equal(o.barrier_near, 0);
	assert_int_equal(o.number[OPTION_MEMORY], 256 << 20);
	assert_int_equal(o.number[OPTION_RING], 64 << 10);
	assert_int_equal(o.number[OPTION_OVERFLOW], OPTION_OVERFLOW_WAIT);
	assert_int_equal(o.number[OPTION_SHADOW_STACK], OPTION_SHADOW_AUTO);
	assert_false(o.given[OPTION_OUTPUT]);
}

static void environment_sets_them(void **state)
{
	char *env[] = {
		"PATH=/bin", "GNOMON_OUTPUT=a.trace", "GNOMON_RING=128k",
		"GNOMON_SHADOW_STACK=off", "GNOMON_LIVE_DIR=/x",
		"GNOMON_FORCE=1", "GNOMON_DEBUG_ORACLE=16",
		"GNOMON_OVERFLOW=drop", "GNOMON_DEBUG_BARRIER=1000",
		"GNOMON_OF_A_LATER_DAY=7", NULL
	};
	const char *bad = NULL;
	struct options o;

	(void)state;
	options_default(&o);
	assert_int_equal(options_environment(&o, env, &bad), 0);
	assert_string_equal(options_text(&o, OPTION_OUTPUT), "a.trace");
	assert_string_equal(options_text(&o, OPTION_LIVE_DIR), "/x");
	assert_int_equal(o.number[OPTION_RING], 128 << 10);
	assert_int_equal(o.number[OPTION_SHADOW_STACK], OPTION_SHADOW_OFF);
	assert_int_equal(o.number[OPTION_OVERFLOW], OPTION_OVERFLOW_DROP);
	assert_int_equal(o.number[OPTION_FORCE], 1);
	assert_true(o.given[OPTION_RING]);
	assert_int_equal(o.oracle, 16);
	assert_int_equal(o.barrier_near, 1000);
}

static void bad_variables_are_named(void **state)
{
	static char *const wrong[] = {
		"GNOMON_RING=1k", "GNOMON_RING=8M", "GNOMON_MEMORY=3M",
		"GNOMON_OVERFLOW=block", "GNOMON_OVERFLOW=",
		"GNOMON_OVERFLOW=wait|drop", "GNOMON_FORCE=yes",
		"GNOMON_SHADOW_STACK=autox",
		"GNOMON_DEBUG_BARRIER=", "GNOMON_DEBUG_BARRIER=0",
		"GNOMON_DEBUG_BARRIER=1001", "GNOMON_DEBUG_BARRIER=1 ",
		"GNOMON_DEBUG_BARRIER=4294967297", "GNOMON_DEBUG_BARRIER=-1",
		"GNOMON_DEBUG_ORACLE=4294967296", "GNOMON_DEBUG_ORACLE=all",
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char *env[] = { "A=b", wrong[i], NULL };
		const char *bad = NULL;
		struct options o, before;

		options_default(&o);
		before = o;
		assert_int_not_equal(options_environment(&o, env, &bad), 0);
		assert_ptr_equal(bad, wrong[i]);
		assert_memory_equal(&o, &before, sizeof(o));
	}
}

static void too_long_texts_are_refused(void **state)
{
	static char text[OPTIONS_TEXT_MAX + 1];
	struct options o;

	(void)state;
	options_default(&o);
	memset(text, 'x', OPTIONS_TEXT_MAX);
	assert_int_equal(options_set(&o, OPTION_OUTPUT, text), -ERANGE);
	text[OPTIONS_TEXT_MAX - 1] = '\0';
	assert_int_equal(options_set(&o, OPTION_OUTPUT, text), 0);
}

static void variables_have_the_options_names(void **state)
{
	(void)state;
	assert_string_equal(options_table[OPTION_SHADOW_STACK].variable,
			    "GNOMON_SHADOW_STACK");
	assert_string_equal(options_table[OPTION_OUTPUT].variable,
			    "GNOMON_OUTPUT");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(snapshots_have_limits),
		cmocka_unit_test(defaults_are_the_tables),
		cmocka_unit_test(environment_sets_them),
		cmocka_unit_test(bad_variables_are_named),
		cmocka_unit_test(too_long_texts_are_refused),
		cmocka_unit_test(variables_have_the_options_names),
		cmocka_unit_test(descriptors_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
