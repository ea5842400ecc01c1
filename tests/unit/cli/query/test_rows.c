/* test_rows.c: the first rows are the same, whether or not the others are
 * kept; groups by several keys add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/base/hash.h"
#include "cli/query/rows.h"

#define COSTS 3000

static struct context_cost costs[COSTS];

/* Many have equal figures, or none; only nodes tell those apart. */
static void make_model(struct model *model, const struct query *query)
{
	memset(model, 0, sizeof(*model));
	query_block_keys(query, &model->keys);
	model->contexts.costs = costs;
	model->contexts.cost_count = COSTS;
	model->contexts.node_count = 1 << 24;
	for (unsigned i = 0; i < COSTS; i++) {
		uint64_t random = hash_fixed(i + 1);

		memset(&costs[i], 0, sizeof(costs[i]));
		costs[i].node = (uint32_t)(random >> 40);
		costs[i].key = block_keys_number(&model->keys, (uint32_t[]){
			random % 5, random % 3, random % 2 });
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

static void compare(const struct query *all, bool some)
{
	static struct model model;
	struct query query = *all;
	const struct query_source source = {
		.model = &model, .end_ns = 1000, .keep = some ? is_even : NULL,
	};
	struct query_rows whole, rows;
	size_t nonzero = 0;

	make_model(&model, &query);
	query_rows_collect(&query, &source, &whole);
	for (size_t i = 0; i < whole.count; i++)
		nonzero += figures_any(&whole.list[i].figures, query.order,
				       source.end_ns);
	/* Those that have something come first. */
	for (size_t i = 0; i < nonzero; i++)
		assert_true(figures_any(&whole.list[i].figures, query.order,
					source.end_ns));
	assert_true(nonzero > 0 && nonzero <= whole.count);
	assert_int_equal(whole.nonzero, nonzero);
	for (query.limit = 1; query.limit < COSTS + 2;
	     query.limit += 1 + query.limit / 3) {
		size_t wanted = query.limit < whole.count ? query.limit :
			whole.count;

		query_rows_collect(&query, &source, &rows);
		assert_int_equal(rows.count, wanted);
		assert_int_equal(rows.nonzero, nonzero);
		assert_memory_equal(rows.list, whole.list,
				    wanted * sizeof(*rows.list));
		query_rows_free(&rows);
	}
	query_rows_free(&whole);
	block_keys_free(&model.keys);
}

static struct query by(const char *keys, enum figure order)
{
	struct query query = { .order = order };
	struct buffer why = { 0 };

	assert_true(query_parse_keys(&query, keys, &why));
	assert_int_equal(why.size, 0);
	return query;
}

static void first_of_all(void **state)
{
	struct query live = by("stack", FIGURE_LIVE);
	struct query total = by("stack", FIGURE_TOTAL);

	(void)state;
	compare(&live, false);
	compare(&total, false);
}

static void first_of_some(void **state)
{
	struct query live = by("stack", FIGURE_LIVE);

	(void)state;
	compare(&live, true);
}

static void first_groups(void **state)
{
	struct query one = by("thread", FIGURE_LIVE);
	struct query two = by("size-class,thread", FIGURE_TOTAL);
	struct query with_stack = by("size-class,stack,arena", FIGURE_TOTAL);

	(void)state;
	compare(&one, false);
	compare(&two, true);
	compare(&with_stack, false);
}

/* Each tuple of values once, and its figures are those of its costs. */
static void tuples(void **state)
{
	static struct model model;
	struct query query = by("thread,size,arena", FIGURE_TOTAL);
	const struct query_source source = { .model = &model };
	uint64_t count[5][3][2] = { { { 0 } } };
	struct query_rows rows;

	(void)state;
	make_model(&model, &query);
	for (unsigned i = 0; i < COSTS; i++) {
		uint64_t random = hash_fixed(i + 1);

		count[random % 5][random % 3][random % 2] +=
			costs[i].allocations;
	}
	query_rows_collect(&query, &source, &rows);
	assert_int_equal(rows.count, 5 * 3 * 2);
	for (size_t i = 0; i < rows.count; i++) {
		struct query_value value[3];

		for (unsigned k = 0; k < 3; k++)
			query_row_value(&rows, &rows.list[i], k, &value[k]);
		assert_int_equal(rows.list[i].figures.count,
			count[value[0].value][value[1].value][value[2].value]);
		count[value[0].value][value[1].value][value[2].value] = 0;
	}
	for (unsigned i = 0; i < COSTS; i++) {
		uint32_t row = query_row_of(&rows, i);
		struct query_value value;

		assert_in_range(row, 0, rows.count - 1);
		query_row_value(&rows, &rows.list[row], 0, &value);
		assert_int_equal(value.value, hash_fixed(i + 1) % 5);
	}
	query_rows_free(&rows);
	block_keys_free(&model.keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_of_all),
		cmocka_unit_test(first_of_some),
		cmocka_unit_test(first_groups),
		cmocka_unit_test(tuples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
