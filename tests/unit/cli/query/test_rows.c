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
#include "cli/model/heap.h"
#include "cli/query/rows.h"
#include "tests/unit/model_feed.h"

#define COSTS 3000

#define THREADS 5

/* Of the i-th context: all its blocks have the same values of each key. */
struct made {
	uint32_t thread;
	uint64_t size;
	bool known;		/* in which arena they are */
	unsigned blocks, live;
};

static struct made made(unsigned i)
{
	uint64_t random = hash_fixed(i + 1);
	unsigned blocks = 1 + random % 7;

	return (struct made){
		.thread = 1 + (uint32_t)(random % THREADS),
		.size = random % 3, .known = random % 2, .blocks = blocks,
		.live = i % 3 ? (unsigned)(random >> 40) % (blocks + 1) : 0,
	};
}

static void make_blocks(struct model *model, unsigned i, uint64_t *stamp)
{
	const struct made m = made(i);

	for (unsigned k = 0; k < m.blocks; k++) {
		const struct trace_event events[2] = {
			{ .stamp = ++*stamp, .address = *stamp * 16,
			  .size = m.size, .context = GT_STOP_COUNT + i,
			  .layout = m.known ? GT_LAYOUT_KNOWN : 0,
			  .kind = GT_ALLOC },
			{ .stamp = *stamp, .address = *stamp * 16,
			  .kind = GT_FREE },
		};

		model_events(model, model_lane(m.thread, false), events,
			     k < m.live ? 1 : 2);
	}
}

/* Many have equal figures, or none; only nodes tell those apart. */
static struct model *make_model(const struct query *query)
{
	struct block_keys keys = { 0 };
	struct model *model;
	uint64_t stamp = 0;

	query_block_keys(query, &keys);
	model = model_new(NULL, &keys);
	for (uint32_t i = 0; i < THREADS; i++)
		feed_thread(model, i, 100 + i);
	for (uint32_t i = 0; i < COSTS; i++)
		feed_node(model, GT_STOP_COUNT + i, 0, 0x1000 + i);
	for (unsigned i = 0; i < COSTS; i++)
		make_blocks(model, i, &stamp);
	model_finish(model);
	assert_int_equal(model_contexts(model)->cost_count, COSTS);
	return model;
}

static bool is_even(void *owner, uint32_t node, const struct figures *figures)
{
	(void)owner;
	(void)figures;
	return node % 2 == 0;
}

static void compare(const struct query *all, bool some)
{
	struct query query = *all;
	struct model *model = make_model(&query);
	const struct query_source source = {
		.model = model, .end_ns = 1000, .keep = some ? is_even : NULL,
	};
	struct query_rows whole, rows;
	size_t nonzero = 0;

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
	model_free(model);
}

static struct query by(const char *keys, enum measure order)
{
	struct query query = { .order = order };
	struct buffer why = { 0 };

	assert_true(query_parse_keys(&query, keys, &why));
	assert_int_equal(why.size, 0);
	return query;
}

static void first_of_all(void **state)
{
	struct query live = by("stack", MEASURE_LIVE);
	struct query total = by("stack", MEASURE_TOTAL);

	(void)state;
	compare(&live, false);
	compare(&total, false);
}

static void first_of_some(void **state)
{
	struct query live = by("stack", MEASURE_LIVE);

	(void)state;
	compare(&live, true);
}

static void first_groups(void **state)
{
	struct query one = by("thread", MEASURE_LIVE);
	struct query two = by("size-class,thread", MEASURE_TOTAL);
	struct query with_stack = by("size-class,stack,arena", MEASURE_TOTAL);

	(void)state;
	compare(&one, false);
	compare(&two, true);
	compare(&with_stack, false);
}

/* Each tuple of values once, and its figures are those of its costs. */
static void tuples(void **state)
{
	struct query query = by("thread,size,arena", MEASURE_TOTAL);
	struct model *model = make_model(&query);
	const struct query_source source = { .model = model };
	uint64_t count[THREADS][3][2] = { { { 0 } } };
	struct query_rows rows;

	(void)state;
	for (unsigned i = 0; i < COSTS; i++) {
		const struct made m = made(i);

		count[m.thread - 1][m.size][m.known] += m.blocks;
	}
	query_rows_collect(&query, &source, &rows);
	assert_int_equal(rows.count, THREADS * 3 * 2);
	for (size_t i = 0; i < rows.count; i++) {
		struct query_value value[3];
		uint64_t *is;

		for (unsigned k = 0; k < 3; k++)
			query_row_value(&rows, &rows.list[i], k, &value[k]);
		is = &count[value[0].value - 1][value[1].value]
			   [value[2].value != HEAP_UNKNOWN];
		assert_int_equal(rows.list[i].figures.count, *is);
		*is = 0;
	}
	for (unsigned i = 0; i < COSTS; i++) {
		uint32_t row = query_row_of(&rows, i);
		struct query_value value;

		assert_in_range(row, 0, rows.count - 1);
		query_row_value(&rows, &rows.list[row], 0, &value);
		assert_int_equal(value.value, made(i).thread);
	}
	query_rows_free(&rows);
	model_free(model);
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
