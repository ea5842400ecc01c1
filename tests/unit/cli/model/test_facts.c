/*
 * test_facts.c: a trace with as many keys as a chunk has room for, and stacks
 * as deep as they are many: what is asked of all of them takes no longer than
 * to read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "cli/model/core/contexts.h"
#include "cli/model/model_state.h"
#include "cli/trace/read/reader.h"

#define KEYS 600000
#define DEPTH 600000
/* Of processor: each takes one; where each key, or frame, is looked at for each other
 * one, minutes, or hours. */
#define SECONDS 40

/* SIGPROF after so many seconds of processor time; 0: never. */
static void limit_time(int seconds)
{
	const struct itimerval value = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &value, NULL);
}

static void many_keys(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct reader_sink sink;
	char key[32], value[32];

	(void)state;
	limit_time(SECONDS);
	model_sink(model, &sink);
	for (unsigned i = 0; i < KEYS; i++) {
		snprintf(key, sizeof(key), "key_number_%u", i);
		snprintf(value, sizeof(value), "%u", i);
		sink.line(model, i % 2 ? GT_INFO : GT_END, key, value);
	}
	assert_int_equal(model->fact_count, KEYS);
	sink.line(model, GT_INFO, "key_number_7", "again");
	assert_int_equal(model->fact_count, KEYS);
	assert_string_equal(model_fact(model, GT_INFO, "key_number_7"),
			    "again");
	assert_string_equal(model_fact(model, GT_END, "key_number_8"), "8");
	assert_null(model_fact(model, GT_END, "key_number_7"));
	assert_null(model_fact(model, GT_INFO, "key_number_8"));
	assert_null(model_fact(model, GT_INFO, "never"));
	sink.line(model, GT_END, "key_number_7", "of the end");
	assert_string_equal(model_fact(model, GT_INFO, "key_number_7"),
			    "again");
	for (size_t i = 0; i < KEYS; i++)
		assert_int_equal(model_number(model, model->facts[i].type,
					      model->facts[i].key, 0),
				 i == 7 ? 0 : i);
	model_free(model);
	limit_time(0);
}

/* Every frame of one stack has allocated; the stack ends early. */
static void a_deep_stack(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct contexts *contexts = &model->contexts;
	struct trace_node node = { GT_STOP_COUNT, GT_STOP_NO_RULE, 0x1000 };
	uint32_t cost;

	(void)state;
	limit_time(SECONDS);
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_int_equal(contexts_define(contexts, &model->images,
						 &node), CONTEXTS_DEFINED);
		cost = contexts_cost(contexts, node.id);
		contexts->costs[cost].allocations = 2;
		node = (struct trace_node){ node.id + 1, node.id, 0x1000 };
	}
	assert_int_equal(model_stopped(model), 2 * DEPTH);
	node = (struct trace_node){ node.id, GT_STOP_BOTTOM, 0x1000 };
	contexts_define(contexts, &model->images, &node);
	cost = contexts_cost(contexts, node.id);
	contexts->costs[cost].allocations = 5;
	assert_int_equal(model_stopped(model), 2 * DEPTH);
	model_free(model);
	limit_time(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_keys),
		cmocka_unit_test(a_deep_stack),
	};

	return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
