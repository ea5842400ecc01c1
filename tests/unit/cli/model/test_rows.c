/* test_rows.c: the first rows are the same, whether or not the others are
 * kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/base/hash.h"
#include "cli/model/rows.h"

#define COSTS 3000

static struct context_cost costs[COSTS];

/* Many have equal figures, or none; only nodes tell those apart. */
static void make_model(struct model *model)
{
	memset(model, 0, sizeof(*model));
	model->contexts.costs = costs;
	model->contexts.cost_count = COSTS;
	model->contexts.node_count = 1 << 24;
	for (unsigned i = 0; i < COSTS; i++) {
		uint64_t random = hash_fixed(i + 1);

		memset(&costs[i], 0, sizeof(costs[i]));
		costs[i].node = (uint32_t)(random >> 40);
		costs[i].allocations = 1 + random % 7;
		costs[i].total_bytes = random % 50;
		costs[i].live_bytes = i % 3 ? random % 40 : 0;
		costs[i].live_blocks = costs[i].live_bytes > 0 || i % 5 == 0;
	}
}

static bool is_even(void *owner, uint32_t node, const struct figures *figures)
{
	(void)owner;
	(void)figures;
	return node % 2 == 0;
}

static uint64_t last_digits(void *owner, const struct context_cost *cost)
{
	(void)owner;
	return cost->node % 100;
}

static void compare(const struct rows_query *all)
{
	static struct model model;
	struct rows_query query = *all;
	struct rows whole, rows;
	size_t nonzero = 0;

	make_model(&model);
	rows_collect(&model, &query, &whole);
	rows_sort(&whole);
	for (size_t i = 0; i < whole.count; i++)
		nonzero += figures_any(&whole.list[i].figures, whole.key,
				       whole.end_ns);
	/* Those that have something come first. */
	for (size_t i = 0; i < nonzero; i++)
		assert_true(figures_any(&whole.list[i].figures, whole.key,
					whole.end_ns));
	assert_true(nonzero > 0 && nonzero <= whole.count);
	assert_int_equal(whole.nonzero, nonzero);
	for (query.limit = 1; query.limit < COSTS + 2;
	     query.limit += 1 + query.limit / 3) {
		size_t wanted = query.limit < whole.count ? query.limit :
			whole.count;

		rows_collect(&model, &query, &rows);
		rows_sort(&rows);
		assert_int_equal(rows.count, wanted);
		assert_int_equal(rows.nonzero, nonzero);
		assert_memory_equal(rows.list, whole.list,
				    wanted * sizeof(*rows.list));
		free(rows.list);
	}
	free(whole.list);
}

static void first_of_all(void **state)
{
	(void)state;
	compare(&(struct rows_query){ .key = FIGURE_LIVE });
	compare(&(struct rows_query){ .key = FIGURE_TOTAL });
}

static void first_of_some(void **state)
{
	(void)state;
	compare(&(struct rows_query){ .key = FIGURE_LIVE, .keep = is_even });
}

static void first_groups(void **state)
{
	(void)state;
	compare(&(struct rows_query){ .key = FIGURE_LIVE,
				      .group = last_digits });
	compare(&(struct rows_query){ .key = FIGURE_TOTAL, .keep = is_even,
				      .group = last_digits });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_of_all),
		cmocka_unit_test(first_of_some),
		cmocka_unit_test(first_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
