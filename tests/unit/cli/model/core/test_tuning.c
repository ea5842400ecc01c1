/*
 * test_tuning.c: calls of mallopt and malloc_trim, from events with odd
 * arguments, and more of them than are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/model/core/tuning.h"

static struct trace_event extra(unsigned what, const uint64_t *args)
{
	struct trace_event event = { .stamp = 7, .kind = GT_EXTRA,
				     .what = (uint8_t)what, .context = 12345,
				     .args = args };

	return event;
}

static void calls(void **state)
{
	const uint64_t mallopt_args[GT_EXTRA_ARGS] = {
		(uint64_t)-3, UINT64_MAX, 1, 99 };
	const uint64_t trim_args[GT_EXTRA_ARGS] = { UINT64_MAX, 1 };
	const uint64_t other_args[GT_EXTRA_ARGS] = { 1, 2, 3, 4 };
	struct trace_event event;
	struct contexts contexts;
	struct tuning tuning = { 0 };

	(void)state;
	contexts_init(&contexts);
	event = extra(GT_EXTRA_MALLOPT, mallopt_args);
	tuning_extra(&tuning, &contexts, 5, &event);
	event = extra(GT_EXTRA_BRK, other_args);
	tuning_extra(&tuning, &contexts, 5, &event);
	event = extra(255, other_args);
	tuning_extra(&tuning, &contexts, 5, &event);
	event = extra(GT_EXTRA_TRIM, trim_args);
	tuning_extra(&tuning, &contexts, 6, &event);
	assert_int_equal(tuning.call_count, 2);
	assert_int_equal(tuning.calls[0].parameter, -3);
	assert_int_equal(tuning.calls[0].value, -1);
	assert_int_equal(tuning.calls[0].result, 1);
	assert_int_equal(tuning.calls[0].thread, 5);
	assert_int_equal(tuning.calls[0].node, CONTEXT_UNDEFINED);
	assert_string_equal(tuning_function(&tuning.calls[0]), "mallopt");
	assert_string_equal(tuning_parameter(-3), "M_MMAP_THRESHOLD");
	assert_null(tuning_parameter(12345));
	assert_true(tuning.calls[1].pad == UINT64_MAX);
	assert_int_equal(tuning.calls[1].result, 1);
	assert_string_equal(tuning_function(&tuning.calls[1]),
			    "malloc_trim");
	contexts_free(&contexts);
	tuning_free(&tuning);
}

static void too_many(void **state)
{
	const uint64_t args[GT_EXTRA_ARGS] = { 0 };
	struct trace_event event = extra(GT_EXTRA_TRIM, args);
	struct contexts contexts;
	struct tuning tuning = { 0 };

	(void)state;
	contexts_init(&contexts);
	for (int i = 0; i < TUNING_MAX + 3; i++)
		tuning_extra(&tuning, &contexts, 0, &event);
	assert_int_equal(tuning.call_count, TUNING_MAX);
	assert_int_equal(tuning.left_out, 3);
	contexts_free(&contexts);
	tuning_free(&tuning);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
