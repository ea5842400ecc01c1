/*
 * test_figures.c: the table of figures: names, members, texts and values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/stats/figures.h"

#define END_NS 5000000

/* No two of what they come to are equal. */
static const struct figures distinct = {
	.count = 11, .total_bytes = 220000, .frees = 7, .temporary = 3,
	.live_blocks = 4, .live_bytes = 50000, .peak_blocks = 6,
	.peak_bytes = 61000, .own_peak_blocks = 8, .own_peak_bytes = 73000,
	.own_peak_ns = 900, .lifetime_ns = 7 * 1300, .first_ns = 100,
	.last_ns = 2000, .unrecorded_bytes = 1000,
};

static void each_name_once(void **state)
{
	enum measure key;

	(void)state;
	for (unsigned i = 0; i < measure_count; i++) {
		assert_true(figures_find(measure_kinds[i].name, &key));
		assert_int_equal(key, i);
		assert_true(strlen(measure_kinds[i].help) > 0);
	}
	assert_false(figures_find("", &key));
	assert_false(figures_find("liv", &key));
	assert_false(figures_find("live ", &key));
	/* Those that code names. */
	assert_true(figures_find("age", &key));
	assert_int_equal(key, MEASURE_AGE);
	assert_true(figures_find("own-peak", &key));
	assert_int_equal(key, MEASURE_OWN_PEAK);
}

struct seen {
	const char *names[MEASURE_MEMBERS_MAX];
	uint64_t values[MEASURE_MEMBERS_MAX];
	unsigned count;
};

static void see(void *owner, const char *name, uint64_t value)
{
	struct seen *seen = owner;

	assert_true(seen->count < MEASURE_MEMBERS_MAX);
	for (unsigned i = 0; i < seen->count; i++) {
		assert_string_not_equal(name, seen->names[i]);
		assert_true(value != seen->values[i]);
	}
	seen->names[seen->count] = name;
	seen->values[seen->count++] = value;
}

/* Each name once, each place once and without a gap, in an order that does not
 * change. */
static void members(void **state)
{
	static const struct { const char *name; uint64_t value; } order[] = {
		{ "live_bytes", 50000 }, { "live_blocks", 4 },
		{ "peak_bytes", 61000 }, { "peak_blocks", 6 },
		{ "total_bytes", 220000 }, { "count", 11 }, { "frees", 7 },
		{ "temporary", 3 }, { "own_peak_bytes", 73000 },
		{ "own_peak_blocks", 8 }, { "own_peak_time_ns", 900 },
		{ "lifetime_ns", 1300 }, { "age_ns", END_NS - 100 },
		{ "first_ns", 100 }, { "last_ns", 2000 },
		{ "freed_bytes", 220000 - 50000 - 1000 },
	};
	const size_t known = sizeof(order) / sizeof(order[0]);
	struct seen seen = { .count = 0 };
	unsigned count = 0;

	(void)state;
	figures_each(&distinct, END_NS, see, &seen);
	assert_true(seen.count >= known);
	for (size_t i = 0; i < known; i++) {
		assert_string_equal(seen.names[i], order[i].name);
		assert_int_equal(seen.values[i], order[i].value);
	}
	for (unsigned i = 0; i < measure_count; i++)
		for (unsigned k = 0; k < MEASURE_KIND_MEMBERS; k++)
			count += measure_kinds[i].members[k].name != NULL;
	assert_int_equal(seen.count, count);
	for (unsigned i = 0; i < seen.count; i++) {
		const struct measure_member *member = figures_member(
			seen.names[i], strlen(seen.names[i]));

		assert_non_null(member);
		assert_int_equal(member->place, i);
	}
	assert_null(figures_member("s", 1));
	assert_null(figures_member("live_byte", 9));
}

/* What a kind is sorted by is one of its members, and nobody else's. */
static void values(void **state)
{
	(void)state;
	for (unsigned i = 0; i < measure_count; i++) {
		const struct measure_kind *kind = &measure_kinds[i];
		uint64_t value = figures_value(&distinct, (enum measure)i,
					       END_NS);
		bool found = false;

		assert_true(value > 0);
		assert_true(figures_any(&distinct, (enum measure)i, END_NS));
		for (unsigned k = 0; k < MEASURE_KIND_MEMBERS; k++)
			found |= kind->members[k].name != NULL &&
				kind->members[k].unit == kind->unit &&
				kind->members[k].value(&distinct, END_NS) ==
				value;
		assert_true(found);
		for (unsigned k = 0; k < i; k++)
			assert_true(figures_value(&distinct, (enum measure)k,
						  END_NS) != value);
		if (kind->blocks != NULL)
			assert_true(figures_blocks(&distinct, (enum measure)i)
				    != value);
	}
	assert_int_equal(figures_blocks(&distinct, MEASURE_OWN_PEAK), 8);
	assert_int_equal(figures_blocks(&distinct, MEASURE_COUNT), 0);
}

static void nothing(void **state)
{
	const struct figures none = { 0 };
	enum measure freed;

	(void)state;
	assert_true(figures_find("freed", &freed));
	for (unsigned i = 0; i < measure_count; i++)
		assert_false(figures_any(&none, (enum measure)i, END_NS));
	assert_true(figures_any(&(struct figures){ .live_blocks = 1 },
				MEASURE_LIVE, END_NS));
	/* Figures of a trace may be anything. */
	assert_int_equal(figures_value(&(struct figures){ .live_bytes = 5 },
				       freed, END_NS), 0);
}

/* A row's text names members, and a plural has a number before it. */
static void check_row(const char *row)
{
	unsigned numbers = 0, open = 0;

	for (row += strcspn(row, "[]{"); *row != 0;
	     row += strcspn(row, "[]{")) {
		size_t size = strcspn(++row, "}");

		if (row[-1] != '{') {
			assert_int_equal(open ^= 1, row[-1] == '[');
			continue;
		}
		assert_int_equal(row[size], '}');
		if (size == 1 && row[0] == 's')
			assert_true(numbers > 0);
		else
			assert_non_null(figures_member(row, size));
		numbers++;
		row += size;
	}
	assert_true(numbers > 0);
	assert_int_equal(open, 0);
}

static void texts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < measure_count; i++) {
		const struct measure_kind *kind = &measure_kinds[i];

		check_row(kind->row);
		assert_non_null(kind->title);
		for (unsigned m = 0; m < MEASURE_MOMENTS; m++) {
			assert_non_null(figures_title(i, m));
			assert_non_null(figures_meaning(i, m));
			assert_int_equal(figures_amount(i, m) != NULL,
					 (kind->uses & MEASURE_LINES) != 0);
		}
		assert_int_equal(kind->tree != NULL,
				 (kind->uses & MEASURE_SUMS) != 0);
		assert_int_equal(kind->change != NULL,
				 (kind->uses & MEASURE_SUMS) != 0);
		assert_int_equal(kind->label != NULL,
				 (kind->uses & MEASURE_EXPORTED) != 0);
		/* Times are the only ones of which no line has a share. */
		assert_int_equal(kind->unit == QUANTITY_NS,
				 (kind->uses & MEASURE_LINES) == 0);
	}
	assert_string_equal(figures_title(MEASURE_LIVE, MEASURE_NOW),
			    "LIVE NOW");
	assert_string_equal(figures_title(MEASURE_PEAK, MEASURE_NOW), "PEAK");
	assert_string_equal(figures_amount(MEASURE_LIVE, MEASURE_THEN),
			    "live at the end");
}

static void sums(void **state)
{
	struct figures sum = { 0 };

	(void)state;
	figures_add(&sum, &distinct);
	assert_memory_equal(&sum, &distinct, sizeof(sum));
	figures_add(&sum, &distinct);
	for (unsigned i = 0; i < measure_count; i++) {
		uint64_t one =
			figures_value(&distinct, (enum measure)i, END_NS);

		if (figures_have((enum measure)i, MEASURE_SUMS))
			assert_int_equal(figures_value(&sum, (enum measure)i,
						       END_NS), 2 * one);
	}
	assert_int_equal(figures_mean_lifetime(&sum), 1300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_once),
		cmocka_unit_test(members),
		cmocka_unit_test(values),
		cmocka_unit_test(nothing),
		cmocka_unit_test(texts),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
