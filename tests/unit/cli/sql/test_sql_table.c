/*
 * test_sql_table.c: tables and columns have names that SQL can say, each once,
 * and filters have all the words there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/sql/sql_table.h"

static bool is_word(const char *name)
{
	return name[0] != 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") ==
		       strlen(name) &&
	       !(name[0] >= '0' && name[0] <= '9');
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; sql_tables[i] != NULL; i++) {
		const struct sql_table *table = sql_tables[i];
		unsigned count = sql_table_count(table);
		char first[64], second[64];

		assert_true(is_word(table->name));
		assert_true(count <= SQL_COLUMNS_MAX);
		for (unsigned n = 0; n < count; n++) {
			struct sql_column column =
				sql_table_column(table, n, first);

			assert_true(is_word(column.name));
			assert_true(column.help[0] != 0);
			for (unsigned k = 0; k < n; k++)
				assert_string_not_equal(
					column.name, sql_table_column(
						table, k, second).name);
		}
	}
}

/* colUsed has a bit for each column of a table's own. */
static void test_own_columns_have_bits(void **state)
{
	(void)state;
	for (size_t i = 0; sql_tables[i] != NULL; i++) {
		unsigned own;

		sql_tables[i]->columns(&own);
		assert_true(own + 1 < 63);
		assert_true(sql_uses(UINT64_C(1) << own, own));
		assert_false(sql_uses(UINT64_C(1) << own, own - 1));
	}
	assert_true(sql_uses(UINT64_C(1) << 63, 100));
}

static void test_filters(void **state)
{
	(void)state;
	for (size_t i = 0; sql_tables[i] != NULL; i++) {
		const struct sql_table *table = sql_tables[i];
		unsigned count = sql_table_count(table), own;

		table->columns(&own);
		assert_int_equal(sql_table_filter(table, 0), 0);
		assert_int_equal(sql_table_filter(table, own), 0);
		if (!table->filters)
			continue;
		assert_int_equal(sql_table_filter(table, own + 1),
				 FILTER_FIRST);
		assert_int_equal(sql_table_filter(table, count - 1),
				 FILTER_END - 1);
	}
}

static void test_schema(void **state)
{
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	for (size_t i = 0; sql_tables[i] != NULL; i++) {
		LOCAL_BUFFER plain = { 0 }, reported = { 0 };
		char *error = NULL;

		sql_table_schema(sql_tables[i], false, &plain);
		sqlite3_exec(db, plain.data, NULL, NULL, &error);
		assert_null(error);
		sql_table_schema(sql_tables[i], true, &reported);
		assert_non_null(strstr(reported.data, sql_tables[i]->help));
	}
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_own_columns_have_bits),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
