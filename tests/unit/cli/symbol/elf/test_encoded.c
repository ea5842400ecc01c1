/*
 * Numbers of unwind tables in each format, and in those that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>

#include "cli/symbol/elf/encoded.h"

static const uint8_t data[] = { 0xfe, 0xff, 0xff, 0x80, 1, 2, 3, 0x84 };

static uint64_t number(unsigned encoding, unsigned address_size, size_t size,
		       bool *bad)
{
	struct span span = { .data = data, .size = size };
	struct bytes bytes = bytes_from(span, 0);
	uint64_t value = encoded_number(&bytes, encoding, address_size);

	*bad = bytes.bad;
	return value;
}

static void formats(void **state)
{
	static const struct {
		unsigned encoding, address_size;
		uint64_t value;
	} wanted[] = {
		{ DW_EH_PE_absptr, 8, 0x8403020180fffffe },
		{ DW_EH_PE_absptr, 4, 0x80fffffe },
		{ DW_EH_PE_signed, 4, 0x80fffffe },
		{ DW_EH_PE_udata2, 8, 0xfffe },
		{ DW_EH_PE_sdata2, 8, UINT64_MAX - 1 },
		{ DW_EH_PE_udata4, 8, 0x80fffffe },
		{ DW_EH_PE_sdata4, 8, 0xffffffff80fffffe },
		{ DW_EH_PE_sdata4 | DW_EH_PE_pcrel, 8, 0xffffffff80fffffe },
		{ DW_EH_PE_udata8, 4, 0x8403020180fffffe },
		{ DW_EH_PE_sdata8, 4, 0x8403020180fffffe },
		{ DW_EH_PE_uleb128, 8, 0x101ffffe },
		{ DW_EH_PE_sleb128, 8, 0x101ffffe },
	};
	bool bad;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t got = number(wanted[i].encoding,
				      wanted[i].address_size, sizeof(data),
				      &bad);

		assert_false(bad);
		assert_int_equal(got, wanted[i].value);
	}
}

static void what_is_none(void **state)
{
	bool bad;

	(void)state;
	assert_int_equal(number(0x05, 8, sizeof(data), &bad), 0);
	assert_true(bad);
	number(DW_EH_PE_udata8, 8, 7, &bad);
	assert_true(bad);
	number(DW_EH_PE_uleb128, 8, 3, &bad);
	assert_true(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
