/* test_trace_model.c: the distributions that traces for measurements are made
 * by. */
// LINK: ../../../bench/trace_model.c
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bench/trace_model.h"

#define DRAWS 200000

/* What is drawn is distributed as what was added, bucket by bucket. */
static void draws(void **state)
{
	static struct spread spread, drawn;
	uint64_t random = 7;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		spread_add(&spread, i % 3);
		spread_add(&spread, 100);
		spread_add(&spread, i % 10 ? 1 << 20 : UINT64_MAX);
	}
	spread_prepare(&spread);
	for (unsigned i = 0; i < DRAWS; i++)
		spread_add(&drawn, spread_draw(&spread, &random));
	for (unsigned i = 0; i < SPREAD_BUCKETS; i++) {
		double wanted = (double)spread.count[i] / 3000;
		double got = (double)drawn.count[i] / DRAWS;

		assert_true(got - wanted < 0.01 && wanted - got < 0.01);
		assert_true((wanted > 0) == (got > 0));
	}
}

static void nothing(void **state)
{
	static struct spread spread;
	uint64_t random = 1;

	(void)state;
	spread_prepare(&spread);
	assert_int_equal(spread_draw(&spread, &random), 0);
	assert_true(spread_mean(&spread) == 0);
}

/* A model is its text, however many lines a distribution takes. */
static void text(void **state)
{
	static struct trace_model model, back;
	uint64_t random = 3;
	FILE *file = tmpfile();

	(void)state;
	for (int i = 0; i < MODEL_NUMBERS; i++)
		model.number[i] = 1000 + (uint64_t)i;
	for (int i = 0; i < MODEL_SPREADS; i++)
		for (unsigned k = 0; k < 300; k++)
			spread_add(&model.spread[i],
				   spread_random(&random) >> k % 64);
	fputs("# a comment\n\n", file);
	trace_model_print(&model, file);
	rewind(file);
	assert_int_equal(trace_model_parse(&back, file), 0);
	assert_memory_equal(back.number, model.number, sizeof(back.number));
	for (int i = 0; i < MODEL_SPREADS; i++)
		assert_memory_equal(back.spread[i].count,
				    model.spread[i].count,
				    sizeof(back.spread[i].count));
	fclose(file);
}

static void nonsense(void **state)
{
	static const char *const texts[] = {
		"what 1\n", "events x\n", "size 1\n", "size 1:2 3\n", "\n# \n",
	};
	static struct trace_model model;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file = tmpfile();

		fputs(texts[i], file);
		rewind(file);
		assert_true(trace_model_parse(&model, file) > 0);
		fclose(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws),
		cmocka_unit_test(nothing),
		cmocka_unit_test(text),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
