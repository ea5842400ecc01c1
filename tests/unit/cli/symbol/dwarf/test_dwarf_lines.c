/*
 * test_dwarf_lines.c: a line table made by hand, instruction by instruction,
 * and the same cut at every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/dwarf/dwarf_lines.h"

/* Version 4: instructions of 1 byte, line_base -5, line_range 14, opcodes
 * from 13 on, directory "inc", files "a.c" and "b" (in inc). */
static const uint8_t table[] = {
	67, 0, 0, 0, 4, 0, 36, 0, 0, 0,
	1, 1, 1, 0xfb, 14, 13,
	0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
	'i', 'n', 'c', 0, 0,
	'a', '.', 'c', 0, 0, 0, 0,
	'b', 0, 1, 0, 0, 0,
	/* The program. */
	0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0,	/* address 0x1000 */
	3, 9,					/* line += 9: 10 */
	5, 7,					/* column 7 */
	1,					/* a row */
	13 + 5 + 1 + 14 * 4,			/* +4, line + 1: a row */
	4, 2,					/* file 2 */
	13 + 5 + 14 * 2,			/* +2: a row */
	2, 10,					/* address += 10 */
	0, 1, 1,				/* the end: 0x1010 */
};

static void read_table(struct dwarf_lines *lines, struct dwarf *dwarf,
		       const uint8_t *bytes, size_t size)
{
	struct dwarf_unit unit = {
		.dwarf = dwarf, .version = 4, .address_size = 8,
		.offset_size = 4, .name = "a.c", .directory = "/src",
	};

	memset(dwarf, 0, sizeof(*dwarf));
	dwarf->sections[DWARF_LINE] = (struct span){
		.data = bytes, .size = size };
	atomic_init(&dwarf->budget, 1 << 20);
	dwarf_lines_read(lines, &unit);
}

static void path_is(const struct dwarf_lines *lines, uint64_t file,
		    const char *wanted)
{
	struct buffer path = { 0 };

	assert_true(dwarf_lines_path(lines, file, &path));
	assert_string_equal(path.data, wanted);
	buffer_free(&path);
}

static void rows(void **state)
{
	struct dwarf_lines lines;
	struct dwarf dwarf;
	const struct dwarf_row *row;

	(void)state;
	read_table(&lines, &dwarf, table, sizeof(table));
	assert_int_equal(lines.sequence_count, 1);
	assert_null(dwarf_lines_at(&lines, 0xfff));
	row = dwarf_lines_at(&lines, 0x1003);
	assert_non_null(row);
	assert_int_equal(row->line, 10);
	assert_int_equal(row->column, 7);
	path_is(&lines, row->file, "/src/a.c");
	row = dwarf_lines_at(&lines, 0x1004);
	assert_int_equal(row->line, 11);
	row = dwarf_lines_at(&lines, 0x100f);
	assert_int_equal(row->file, 2);
	path_is(&lines, row->file, "/src/inc/b");
	assert_null(dwarf_lines_at(&lines, 0x1010));
	dwarf_lines_free(&lines);
}

static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(table); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		struct dwarf_lines lines;
		struct dwarf dwarf;

		memcpy(copy, table, size);
		read_table(&lines, &dwarf, copy, size);
		/* Its length says that there is more. */
		assert_int_equal(lines.row_count, 0);
		dwarf_lines_free(&lines);
		free(copy);
	}
}

/* Version 5: directories are flags, which stand in the form: 2^63 of them. */
static void names_without_bytes(void **state)
{
	static const uint8_t endless[] = {
		40, 0, 0, 0, 5, 0, 8, 0, 29, 0, 0, 0,
		1, 1, 1, 0xfb, 14, 2, 0,
		1, 1, 0x19,		/* DW_LNCT_path, DW_FORM_flag_present */
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	struct dwarf_lines lines;
	struct dwarf dwarf;

	(void)state;
	read_table(&lines, &dwarf, endless, sizeof(endless));
	assert_int_equal(lines.directory_count, 0);
	assert_int_equal(lines.row_count, 0);
	dwarf_lines_free(&lines);
}

static void without_budget(void **state)
{
	struct dwarf_unit unit = { .version = 4, .address_size = 8,
				   .offset_size = 4 };
	struct dwarf_lines lines;
	struct dwarf dwarf = { .sections[DWARF_LINE] = { table,
							 sizeof(table) } };

	(void)state;
	unit.dwarf = &dwarf;
	dwarf_lines_read(&lines, &unit);
	assert_int_equal(lines.row_count, 0);
	dwarf_lines_free(&lines);
}

static void broken_orders_are_seen(void **state)
{
	struct dwarf_row rows[5] = { { .address = 16 },
				     { .address = 18 },
				     { .address = 20 },
				     { .address = 32 },
				     { .address = 36 } };
	struct dwarf_sequence list[2] = { { 16, 20, 0, 3 }, { 32, 36, 3, 2 } };
	struct dwarf_lines lines = { .rows = rows,
				     .row_count = 5,
				     .sequences = list,
				     .sequence_count = 2 };

	(void)state;
	assert_true(dwarf_lines_is_valid(&lines));
	rows[1].address = 21;
	assert_false(dwarf_lines_is_valid(&lines));
	rows[1].address = 20;
	list[1].count = 3; /* one more than there is */
	assert_false(dwarf_lines_is_valid(&lines));
	list[1].count = 2;
	list[1].low = 33;
	assert_false(dwarf_lines_is_valid(&lines));
	list[1].low = 32;
	assert_true(dwarf_lines_is_valid(&lines));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(names_without_bytes),
		cmocka_unit_test(without_budget),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
