/*
 * test_dwarf_ranges.c: lists of ranges made by hand, of version 4 and 5, and
 * one that many entries might name.
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

enum { TAKEN_MAX = 16 };

struct taken {
	uint64_t low[TAKEN_MAX], high[TAKEN_MAX];
	size_t count;
};

static void take(void *owner, uint64_t low, uint64_t high)
{
	struct taken *taken = owner;

	assert_true(taken->count < TAKEN_MAX);
	taken->low[taken->count] = low;
	taken->high[taken->count++] = high;
}

static void is(const struct taken *taken, size_t i, uint64_t low,
	       uint64_t high)
{
	assert_true(i < taken->count);
	assert_int_equal(taken->low[i], low);
	assert_int_equal(taken->high[i], high);
}

static void read_lists(struct taken *taken, struct dwarf *dwarf,
		       unsigned version, uint64_t at, unsigned form)
{
	struct dwarf_unit unit = {
		.dwarf = dwarf, .version = (uint8_t)version,
		.address_size = 8, .offset_size = 4, .low = 0x1000,
		.rnglists_base = 12, .addr_base = 8,
	};
	struct dwarf_entry entry = { .has_ranges = true };

	entry.ranges.form = (uint16_t)form;
	entry.ranges.number = at;
	memset(taken, 0, sizeof(*taken));
	dwarf_ranges_each(&unit, &entry, take, taken);
}

static void pairs(void **state)
{
	static const uint64_t list[] = {
		0x10, 0x20,		/* from where the unit begins */
		0x30, 0x30,		/* empty */
		UINT64_MAX, 0x5000,	/* now from here */
		1, 2,
		0, 0,
		7, 9,			/* of another list */
	};
	struct dwarf dwarf = { .budget = 1 << 20 };
	struct taken taken;

	(void)state;
	dwarf.sections[DWARF_RANGES] =
		(struct span){ (const uint8_t *)list, sizeof(list), false };
	read_lists(&taken, &dwarf, 4, 0, DW_FORM_sec_offset);
	assert_int_equal(taken.count, 2);
	is(&taken, 0, 0x1010, 0x1020);
	is(&taken, 1, 0x5001, 0x5002);
	/* Without an end, and beyond the end. */
	read_lists(&taken, &dwarf, 4, 80, DW_FORM_sec_offset);
	assert_int_equal(taken.count, 1);
	read_lists(&taken, &dwarf, 4, 96, DW_FORM_sec_offset);
	read_lists(&taken, &dwarf, 4, UINT64_MAX, DW_FORM_sec_offset);
	assert_int_equal(taken.count, 0);
}

static const uint8_t lists[] = {
	0, 0, 0, 0, 5, 0, 8, 0, 1, 0, 0, 0,
	4, 0, 0, 0,			/* the first: 4 behind this */
	DW_RLE_offset_pair, 0x10, 0x20,
	DW_RLE_base_addressx, 1,
	DW_RLE_offset_pair, 1, 2,
	DW_RLE_startx_length, 0, 5,
	DW_RLE_startx_endx, 0, 1,
	DW_RLE_start_length, 0, 0x70, 0, 0, 0, 0, 0, 0, 4,
	DW_RLE_end_of_list,
};
static const uint64_t addresses[] = { 0, 0x3000, 0x6000 };

static void entries_of_all_kinds(void **state)
{
	struct dwarf dwarf = { .budget = 1 << 20 };
	struct taken taken;

	(void)state;
	dwarf.sections[DWARF_RNGLISTS] = (struct span){
		lists, sizeof(lists), false };
	dwarf.sections[DWARF_ADDR] = (struct span){
		(const uint8_t *)addresses, sizeof(addresses), false };
	for (int by_index = 0; by_index < 2; by_index++) {
		read_lists(&taken, &dwarf, 5, by_index ? 0 : 16, by_index ?
			   DW_FORM_rnglistx : DW_FORM_sec_offset);
		assert_int_equal(taken.count, 5);
		is(&taken, 0, 0x1010, 0x1020);
		is(&taken, 1, 0x6001, 0x6002);
		is(&taken, 2, 0x3000, 0x3005);
		is(&taken, 3, 0x3000, 0x6000);
		is(&taken, 4, 0x7000, 0x7004);
	}
	/* No such list; no such address. */
	read_lists(&taken, &dwarf, 5, 1 << 20, DW_FORM_rnglistx);
	assert_int_equal(taken.count, 0);
	dwarf.sections[DWARF_ADDR].size = 16;
	read_lists(&taken, &dwarf, 5, 0, DW_FORM_rnglistx);
	assert_int_equal(taken.count, 1);
}

static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(lists); size++) {
		struct dwarf dwarf = { .budget = 1 << 20 };
		uint8_t *copy = malloc(size ? size : 1);
		struct taken taken;

		memcpy(copy, lists, size);
		dwarf.sections[DWARF_RNGLISTS] = (struct span){
			.data = copy, .size = size };
		dwarf.sections[DWARF_ADDR] = (struct span){
			(const uint8_t *)addresses, sizeof(addresses), false };
		read_lists(&taken, &dwarf, 5, 0, DW_FORM_rnglistx);
		assert_in_range(taken.count, 0, 5);
		free(copy);
	}
}

/* Bases alone are no ranges, but are charged: entries may share such lists. */
static void charged(void **state)
{
	const size_t count = 1 << 12;
	uint64_t *list = calloc(count + 1, 16);
	struct dwarf dwarf = { .budget = 100000 };
	struct taken taken;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		list[2 * i] = UINT64_MAX;
		list[2 * i + 1] = 0x1000;
	}
	dwarf.sections[DWARF_RANGES] =
		(struct span){ (const uint8_t *)list, (count + 1) * 16, false };
	read_lists(&taken, &dwarf, 4, 0, DW_FORM_sec_offset);
	assert_int_equal(taken.count, 0);
	assert_true(dwarf.budget <= 100000 - (long long)count * 16);
	read_lists(&taken, &dwarf, 4, 0, DW_FORM_sec_offset);
	assert_true(dwarf.budget <= 0);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(entries_of_all_kinds),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
