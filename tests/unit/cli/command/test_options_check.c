/* test_options_check.c: texts that an option cannot have, and options that
 * contradict each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/command/options_check.h"

static struct options options;

static int each(void **state)
{
	(void)state;
	options_default(&options);
	return 0;
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

static void texts_are_looked_at(void **state)
{
	static const struct {
		enum option_id id;
		const char *right, *wrong;
	} texts[] = {
		{ OPTION_OUTPUT, "a", "" },
		{ OPTION_CHOWN, "me", "" },
		{ OPTION_INCLUDE, "*", "" },
		{ OPTION_SIGNAL, "USR1=toggle", "USR1=dance" },
		{ OPTION_SNAPSHOT_AT, "RSS=1M,RSS=80.5%", "RSS=101%" },
		{ OPTION_SORT, "live,age", "live,height" },
		{ OPTION_SORT, "own-peak", "" },
	};
	unsigned i;

	(void)state;
	assert_true(options_fit(OPTION_LIVE_DIR, ""));
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_true(options_fit(texts[i].id, texts[i].right));
		assert_false(options_fit(texts[i].id, texts[i].wrong));
	}
}

static void a_misfit_is_named(void **state)
{
	char *right[] = { "A=b", "GNOMON_SORT=live", "GNOMON_SORTS=x", NULL };
	char *wrong[] = { "A=b", "GNOMON_OUTPUT=a", "GNOMON_SORT=x",
			  "GNOMON_SIGNAL=x", NULL };

	(void)state;
	assert_null(options_misfit(right));
	assert_ptr_equal(options_misfit(wrong), wrong[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_looked_at),
		cmocka_unit_test(a_misfit_is_named),
		cmocka_unit_test_setup(sizes_have_an_order, each),
		cmocka_unit_test_setup(some_want_a_file, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
