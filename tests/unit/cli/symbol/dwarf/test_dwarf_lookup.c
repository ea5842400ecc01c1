/*
 * test_dwarf_lookup.c: this program's own debug information, with libdw as the
 * judge: functions, what is inlined into them and where, lines and columns.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "cli/symbol/dwarf/dwarf_entry.h"
#include "cli/symbol/dwarf/dwarf_functions.h"
#include "cli/symbol/dwarf/dwarf_lookup.h"

/* Addresses that are compared in each unit, and units. */
enum { PLACES = 60, UNITS = 40 };

struct judged {
	struct elffile *file;
	struct dwarf *dwarf;
	Dwarf *judge;
	int fd;
	unsigned places, inlined, with_lines;
};

static void open_self(struct judged *judged)
{
	struct span sections[DWARF_SECTIONS];

	memset(judged, 0, sizeof(*judged));
	judged->file = elffile_open(open("/proc/self/exe", O_RDONLY), "self");
	assert_non_null(judged->file);
	dwarf_sections(judged->file, false, sections);
	judged->dwarf = dwarf_open(sections, NULL, NULL);
	assert_non_null(judged->dwarf);
	dwarf_find_areas(judged->dwarf);
	judged->fd = open("/proc/self/exe", O_RDONLY);
	judged->judge = dwarf_begin(judged->fd, DWARF_C_READ);
	assert_non_null(judged->judge);
}

static void close_self(struct judged *judged)
{
	dwarf_end(judged->judge);
	close(judged->fd);
	dwarf_close(judged->dwarf);
	elffile_close(judged->file);
}

/* ---- what libdw says ---- */

static const char *name_by_judge(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(entry, DW_AT_name, &attribute))
		return dwarf_formstring(&attribute);
	return NULL;
}

static uint64_t number_by_judge(Dwarf_Die *entry, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr(entry, name, &attribute) != NULL)
		dwarf_formudata(&attribute, &value);
	return value;
}

static bool is_function(Dwarf_Die *entry)
{
	return dwarf_tag(entry) == DW_TAG_subprogram ||
		dwarf_tag(entry) == DW_TAG_inlined_subroutine;
}

/* ---- comparing ---- */

static void compare_path(const struct dwarf_lookup *lookup,
			 const struct dwarf_frame *frame, Dwarf_Line *row)
{
	struct buffer path = { 0 };

	assert_true(dwarf_lines_path(&lookup->lines, frame->file, &path));
	/* libdw leaves the unit's directory out where it is told twice. */
	assert_string_equal(strrchr(path.data, '/'),
			    strrchr(dwarf_linesrc(row, NULL, NULL), '/'));
	buffer_free(&path);
}

static void compare_line(struct judged *judged,
			 const struct dwarf_lookup *lookup, Dwarf_Die *root,
			 uint64_t address, const struct dwarf_frame *frame)
{
	Dwarf_Line *row = dwarf_getsrc_die(root, address);
	int line, column;

	if (row == NULL) {
		assert_int_equal(frame->line, 0);
		return;
	}
	assert_int_equal(dwarf_lineno(row, &line), 0);
	assert_int_equal(dwarf_linecol(row, &column), 0);
	assert_int_equal(frame->line, line);
	assert_int_equal(frame->column, column);
	if (line > 0)
		compare_path(lookup, frame, row);
	judged->with_lines++;
}

static void compare_functions(struct judged *judged,
			      const struct dwarf_lookup *lookup,
			      Dwarf_Die *root, uint64_t address,
			      const struct dwarf_frame *frames, size_t count)
{
	Dwarf_Die *at, *around;
	int found = dwarf_getscopes(root, address, &at), depth;
	size_t functions = 0;

	assert_true(found > 0);
	/* As they stand in one another, not as the source has them. */
	depth = dwarf_getscopes_die(&at[0], &around);
	for (int i = 0; i < depth; i++) {
		if (!is_function(&around[i]))
			continue;
		assert_true(functions < count);
		assert_string_equal(
			dwarf_lookup_name(lookup,
					  frames[functions].function).name,
			name_by_judge(&around[i]));
		functions++;
		if (functions < count)
			assert_int_equal(frames[functions].line,
					 number_by_judge(&around[i],
							 DW_AT_call_line));
	}
	assert_int_equal(functions, count);
	judged->inlined += count > 1;
	free(at);
	free(around);
}

static void compare_place(struct judged *judged,
			  const struct dwarf_lookup *lookup, Dwarf_Die *root,
			  uint64_t address)
{
	struct dwarf_frame frames[DWARF_INLINE_MAX];
	size_t count = dwarf_lookup_at(lookup, address, frames);

	compare_line(judged, lookup, root, address, &frames[0]);
	if (frames[0].function != UINT32_MAX)
		compare_functions(judged, lookup, root, address, frames,
				  count);
	judged->places++;
}

static void compare_unit(struct judged *judged, struct dwarf_unit *unit)
{
	struct dwarf_lookup lookup;
	Dwarf_Die root;

	assert_non_null(dwarf_offdie(judged->judge, unit->root, &root));
	assert_true(dwarf_lookup_open(&lookup, unit, unit));
	for (size_t i = 0; i < PLACES && lookup.functions.count > 0; i++) {
		const struct dwarf_function *function =
			&lookup.functions.list[i * 7 % lookup.functions.count];
		const struct dwarf_range *range =
			&lookup.functions.ranges[function->first_range];

		compare_place(judged, &lookup, &root, range->low +
			      (range->high - range->low) * i / PLACES);
	}
	dwarf_lookup_close(&lookup);
}

static void as_libdw(void **state)
{
	struct judged judged;
	size_t units = 0, step;

	(void)state;
	open_self(&judged);
	step = judged.dwarf->unit_count / UNITS + 1;
	for (size_t i = 0; i < judged.dwarf->unit_count; i += step) {
		struct dwarf_unit *unit = &judged.dwarf->units[i];

		if (unit->tag != DW_TAG_compile_unit)
			continue;
		compare_unit(&judged, unit);
		units++;
	}
	close_self(&judged);
	assert_true(units > 2);
	assert_true(judged.with_lines > judged.places / 2);
	assert_true(judged.inlined > judged.places / 10);
}

/* Each unit's code is found at its first and last byte, and not behind it. */
static void units_by_address(void **state)
{
	struct judged judged;
	uint64_t last = 0;

	(void)state;
	open_self(&judged);
	for (size_t i = 0; i < judged.dwarf->area_count; i++) {
		const struct dwarf_area *area = &judged.dwarf->areas[i];
		struct dwarf_unit *unit = &judged.dwarf->units[area->unit];

		assert_ptr_equal(dwarf_unit_at(judged.dwarf, area->low), unit);
		assert_ptr_equal(dwarf_unit_at(judged.dwarf, area->high - 1),
				 unit);
		assert_ptr_equal(dwarf_unit_of(judged.dwarf, unit->root), unit);
		last = area->high > last ? area->high : last;
	}
	assert_true(judged.dwarf->area_count > 2);
	assert_null(dwarf_unit_at(judged.dwarf, last));
	assert_null(dwarf_unit_at(judged.dwarf, 0));
	close_self(&judged);
}

static void without_budget(void **state)
{
	struct dwarf_lookup lookup;
	struct judged judged;

	(void)state;
	open_self(&judged);
	atomic_store(&judged.dwarf->budget, 0);
	assert_false(dwarf_lookup_open(&lookup, judged.dwarf->units,
				       judged.dwarf->units));
	close_self(&judged);
}

/* What a look-up relies on, broken piece by piece. */
static void broken_functions(void **state)
{
	struct dwarf_range ranges[] = { { 16, 64 }, { 16, 32 } };
	struct dwarf_function list[] = {
		{ .next = 2, .first_range = 0, .range_count = 1 },
		{ .next = 2, .first_range = 1, .range_count = 1,
		  .inlined = true },
	};
	struct dwarf_piece pieces[] = { { 16, 64, 64, 0 }, { 80, 96, 96, 0 } };
	struct dwarf_functions functions = {
		.list = list, .count = 2, .ranges = ranges, .range_count = 2,
		.pieces = pieces, .piece_count = 2,
	};

	(void)state;
	assert_true(dwarf_functions_is_valid(&functions));
	list[1].next = 1;
	assert_false(dwarf_functions_is_valid(&functions));
	list[1].next = 3;
	assert_false(dwarf_functions_is_valid(&functions));
	list[1].next = 2;
	list[1].range_count = 0;
	assert_false(dwarf_functions_is_valid(&functions));
	list[1].range_count = 2;
	assert_false(dwarf_functions_is_valid(&functions));
	list[1].range_count = 1;
	pieces[1].reach = 97;
	assert_false(dwarf_functions_is_valid(&functions));
	pieces[1].reach = 96;
	pieces[1].function = 2;
	assert_false(dwarf_functions_is_valid(&functions));
	pieces[1].function = 0;
	pieces[1].low = 8;
	assert_false(dwarf_functions_is_valid(&functions));
	pieces[1].low = 80;
	assert_true(dwarf_functions_is_valid(&functions));
}

static void broken_orders_are_seen(void **state)
{
	struct dwarf_unit units[2] = {
		{ .offset = 0, .root = 11, .end = 40 },
		{ .offset = 40, .root = 51, .end = 90 },
	};
	struct dwarf_area areas[2] = { { 16, 64, 64, 1 }, { 20, 24, 64, 0 } };
	struct dwarf dwarf = {
		.units = units, .unit_count = 2, .areas = areas, .area_count = 2
	};

	(void)state;
	assert_true(dwarf_is_valid(&dwarf));
	units[1].offset = 39; /* within the other one */
	assert_false(dwarf_is_valid(&dwarf));
	units[1].offset = 40;
	areas[1].reach = 24;
	assert_false(dwarf_is_valid(&dwarf));
	areas[1].reach = 64;
	areas[0].unit = 2;
	assert_false(dwarf_is_valid(&dwarf));
	areas[0].unit = 1;
	assert_true(dwarf_is_valid(&dwarf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_libdw),
		cmocka_unit_test(units_by_address),
		cmocka_unit_test(without_budget),
		cmocka_unit_test(broken_functions),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
