/*
 * test_dwarf_abbrev.c: tables of abbreviations made by hand: codes in order
 * and out of it, sizes that are known, and what is too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dwarf.h>

#include "cli/symbol/dwarf/dwarf_entry.h"

/* A file with nothing but abbreviations, and one unit. */
struct given {
	struct dwarf dwarf;
	struct dwarf_unit unit;
};

static const struct dwarf_abbrevs *read_table(struct given *given,
					      const uint8_t *bytes,
					      size_t size)
{
	memset(given, 0, sizeof(*given));
	given->dwarf.sections[DWARF_ABBREV] = (struct span){
		.data = bytes, .size = size };
	atomic_init(&given->dwarf.budget, 1 << 20);
	pthread_mutex_init(&given->dwarf.lock, NULL);
	given->unit = (struct dwarf_unit){
		.dwarf = &given->dwarf, .version = 4, .address_size = 8,
		.offset_size = 4,
	};
	return dwarf_abbrevs_of(&given->unit);
}

static void end_table(struct given *given)
{
	for (size_t i = 0; i < given->dwarf.table_count; i++)
		dwarf_abbrevs_free(given->dwarf.tables[i]);
	free(given->dwarf.tables);
	pthread_mutex_destroy(&given->dwarf.lock);
}

static void sizes(void **state)
{
	static const uint8_t bytes[] = {
		1, DW_TAG_subprogram, 1,
		DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4,
		DW_AT_external, DW_FORM_flag_present, 0, 0,
		2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, 0, 0,
		0,
	};
	const struct dwarf_abbrev *abbrev;
	const struct dwarf_abbrevs *table;
	struct given given;

	(void)state;
	table = read_table(&given, bytes, sizeof(bytes));
	assert_non_null(table);
	assert_int_equal(table->count, 2);
	assert_true(table->dense);
	abbrev = dwarf_abbrev_find(table, 1);
	assert_int_equal(abbrev->tag, DW_TAG_subprogram);
	assert_true(abbrev->children);
	assert_int_equal(abbrev->count, 3);
	assert_int_equal(abbrev->size, 12);
	abbrev = dwarf_abbrev_find(table, 2);
	assert_false(abbrev->children);
	/* A string is as long as it is. */
	assert_int_equal(abbrev->size, 0);
	assert_null(dwarf_abbrev_find(table, 0));
	assert_null(dwarf_abbrev_find(table, 3));
	/* Read once for all. */
	assert_ptr_equal(dwarf_abbrevs_of(&given.unit), table);
	assert_int_equal(given.dwarf.table_count, 1);
	end_table(&given);
}

static void codes_in_any_order(void **state)
{
	static const uint8_t bytes[] = {
		0x90, 0x4e, DW_TAG_subprogram, 0, 0, 0,		/* 10 000 */
		3, DW_TAG_compile_unit, 0, 0, 0,
		7, DW_TAG_lexical_block, 1, 0, 0,
		0,
	};
	const struct dwarf_abbrevs *table;
	struct given given;

	(void)state;
	table = read_table(&given, bytes, sizeof(bytes));
	assert_false(table->dense);
	assert_int_equal(dwarf_abbrev_find(table, 10000)->tag,
			 DW_TAG_subprogram);
	assert_int_equal(dwarf_abbrev_find(table, 3)->tag,
			 DW_TAG_compile_unit);
	assert_int_equal(dwarf_abbrev_find(table, 7)->tag,
			 DW_TAG_lexical_block);
	assert_null(dwarf_abbrev_find(table, 4));
	assert_null(dwarf_abbrev_find(table, 10001));
	end_table(&given);
}

/* Attributes that take no bytes cost time for each entry all the same. */
static void too_many_attributes(void **state)
{
	const size_t many = 50000;
	uint8_t *bytes = calloc(1, 2 * many + 16), *at = bytes;
	const struct dwarf_abbrevs *table;
	struct given given;

	(void)state;
	memcpy(at, "\1\x11\1\0\0\2\x2e\0", 8);
	at += 8;
	for (size_t i = 0; i < many; i++) {
		*at++ = 0x7f;
		*at++ = DW_FORM_flag_present;
	}
	at += 3;
	table = read_table(&given, bytes, (size_t)(at - bytes));
	/* What stands before it is still good. */
	assert_int_equal(table->count, 1);
	assert_null(dwarf_abbrev_find(table, 2));
	end_table(&given);
	free(bytes);
}

static void cut_anywhere(void **state)
{
	static const uint8_t whole[] = {
		1, DW_TAG_subprogram, 1, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_decl_file, DW_FORM_implicit_const, 0x80, 1, 0, 0,
	};

	(void)state;
	for (size_t size = 0; size <= sizeof(whole); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		const struct dwarf_abbrevs *table;
		struct given given;

		memcpy(copy, whole, size);
		table = read_table(&given, copy, size);
		assert_int_equal(table->count, size == sizeof(whole));
		if (size == sizeof(whole))
			assert_int_equal(table->attributes[1].constant, 128);
		end_table(&given);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(codes_in_any_order),
		cmocka_unit_test(too_many_attributes),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
