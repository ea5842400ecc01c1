/*
 * test_plt_stub.c: stubs as the linkers of three targets make them.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/code/plt_stub.h"

static const struct elf_kind x86_64 = { EM_X86_64, true, false, 0 };
static const struct elf_kind aarch64 = { EM_AARCH64, true, false, 0 };
static const struct elf_kind arm = { EM_ARM, false, false, 0 };
static const struct elf_kind mips = { EM_MIPS, true, true, 0 };

static void test_x86_64(void **state)
{
	static const uint8_t plain[11] = { 0xff, 0x25, 0xca, 0x2f, 0, 0 };
	static const uint8_t marked[11] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff,
					    0x25, 0xff, 0xff, 0xff, 0xff };

	(void)state;
	assert_int_equal(plt_stub_slot(&x86_64, 0x1000, plain, 11), 0x3fd0);
	assert_int_equal(plt_stub_slot(&x86_64, 0x1000, marked, 11), 0x100a);
	assert_int_equal(plt_stub_slot(&x86_64, 0x1000, plain, 10), 0);
	assert_int_equal(plt_stub_slot(&mips, 0x1000, plain, 11), 0);
}

static void test_aarch64(void **state)
{
	/* bti c; adrp x16, +0x1f000; ldr x17, [x16, #0xf98] */
	static const uint8_t stub[] = { 0x5f, 0x24, 0x03, 0xd5,
					0xf0, 0x00, 0x00, 0xf0,
					0x11, 0xce, 0x47, 0xf9 };
	/* adrp x16, -0x1000; ldr x17, [x16] */
	static const uint8_t back[] = { 0xf0, 0xff, 0xff, 0xf0,
					0x11, 0x02, 0x40, 0xf9 };

	(void)state;
	assert_int_equal(plt_stub_slot(&aarch64, 0x650, stub, 12), 0x1ff98);
	assert_int_equal(plt_stub_slot(&aarch64, 0x654, stub + 4, 8), 0x1ff98);
	assert_int_equal(plt_stub_slot(&aarch64, 0x5010, back, 8), 0x4000);
	assert_int_equal(plt_stub_slot(&aarch64, 0x650, stub + 4, 7), 0);
	assert_int_equal(plt_stub_slot(&aarch64, 0x650, stub, 12 - 4), 0);
}

static void test_arm(void **state)
{
	/* bx pc; nop; add ip, pc, #0, 12; add ip, ip, #0x10000;
	 * ldr pc, [ip, #0xbf8]! */
	static const uint8_t stub[] = { 0x78, 0x47, 0xc0, 0x46,
					0x00, 0xc6, 0x8f, 0xe2,
					0x10, 0xca, 0x8c, 0xe2,
					0xf8, 0xfb, 0xbc, 0xe5 };

	(void)state;
	assert_int_equal(plt_stub_slot(&arm, 0x400, stub, 16), 0x11004);
	assert_int_equal(plt_stub_slot(&arm, 0x404, stub + 4, 12), 0x11004);
	assert_int_equal(plt_stub_slot(&arm, 0x404, stub + 4, 11), 0);
	assert_int_equal(plt_stub_slot(&arm, 0x404, stub + 8, 8), 0);
}

/* Each beginning lies in a block of its own, whose end is watched. */
static void test_cut_anywhere(void **state)
{
	static const uint8_t stubs[][PLT_STUB_SIZE] = {
		{ 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4 },
		{ 0x5f, 0x24, 0x03, 0xd5, 0xf0, 0, 0, 0xf0, 0x11, 0xce, 0x47,
		  0xf9 },
		{ 0x78, 0x47, 0xc0, 0x46, 0x00, 0xc6, 0x8f, 0xe2, 0x10, 0xca,
		  0x8c, 0xe2, 0xf8, 0xfb, 0xbc, 0xe5 },
	};
	static const struct elf_kind *const kinds[] = { &x86_64, &aarch64,
							&arm };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t size = 1; size <= PLT_STUB_SIZE; size++) {
			uint8_t *copy = malloc(size);

			memcpy(copy, stubs[i], size);
			plt_stub_slot(kinds[i], 0x1000, copy, size);
			free(copy);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
