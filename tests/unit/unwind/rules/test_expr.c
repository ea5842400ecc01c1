/* test_expr.c: the expression machine: each operation, and what must fail. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "unwind/rules/expr.h"

static struct arch_regs regs;
static uint64_t words[4] = {
	0x1122334455667788, 0x99aabbccddeeff00, 3, 4
};

static bool read_words(void *ctx, uintptr_t address, uint64_t *value)
{
	uintptr_t base = (uintptr_t)words;

	(void)ctx;
	if (address < base || address > base + sizeof(words) - ARCH_WORD)
		return false;
	*value = 0;
	memcpy(value, (const void *)address, ARCH_WORD);
	return true;
}

static int evaluate(const uint8_t *code, size_t size, const uint64_t *initial,
		    uint64_t *result)
{
	struct expr_context context = { .regs = &regs, .read = read_words };
	unsigned int i;

	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs.r[i] = 1000 * i;
	regs.r[3] = (uintptr_t)words;
	return expr_evaluate(code, size, &context, initial, result);
}

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, \
	sizeof((const uint8_t[]){ __VA_ARGS__ })
/* As a word: what does not fit into one is cut off. */
#define IS(wanted, ...)                                                     \
	do {                                                                \
		uint64_t got_ = 0xbad;                                      \
		assert_int_equal(                                           \
			evaluate(CODE(__VA_ARGS__), NULL, &got_), 0);       \
		assert_int_equal(got_, (uintptr_t)(wanted));                \
	} while (0)
#define FAILS(error, ...)                                                   \
	do {                                                                \
		uint64_t got_;                                              \
		assert_int_equal(                                           \
			evaluate(CODE(__VA_ARGS__), NULL, &got_), error);   \
	} while (0)

static void test_constants(void **unused)
{
	(void)unused;
	IS(7, 0x30 + 7);
	IS(31, 0x4f);
	IS(0x0807060504030201, 0x0e, 1, 2, 3, 4, 5, 6, 7, 8);
	IS(0xff, 0x08, 0xff);
	IS(-1, 0x09, 0xff);
	IS(0xfffe, 0x0a, 0xfe, 0xff);
	IS(-2, 0x0b, 0xfe, 0xff);
	IS(0xfffffffe, 0x0c, 0xfe, 0xff, 0xff, 0xff);
	IS(-2, 0x0d, 0xfe, 0xff, 0xff, 0xff);
	IS(UINT64_MAX, 0x0e, 255, 255, 255, 255, 255, 255, 255, 255);
	IS(-1, 0x0f, 255, 255, 255, 255, 255, 255, 255, 255);
	IS(624485, 0x10, 0xe5, 0x8e, 0x26);
	IS(-123456, 0x11, 0xc0, 0xbb, 0x78);
	IS(0, 0x10, 0x80, 0x80, 0x00);	/* padded */
}

/* An address has the size of one. */
static void test_address(void **unused)
{
	uint8_t code[1 + sizeof(uintptr_t)] = { 0x03 };
	uintptr_t address = (uintptr_t)words;
	uint64_t got;

	(void)unused;
	memcpy(code + 1, &address, sizeof(address));
	assert_int_equal(evaluate(code, sizeof(code), NULL, &got), 0);
	assert_int_equal(got, address);
	assert_int_equal(evaluate(code, sizeof(code) - 1, NULL, &got),
			 -EINVAL);
}

static void test_registers(void **unused)
{
	(void)unused;
	IS(7008, 0x77, 8);
	IS(15000 - 8, 0x7f, 0x78);
	IS(-8, 0x70, 0x78);
	IS(6000 - 128, 0x92, 6, 0x80, 0x7f);
	IS(5000, 0x55);
	IS(5000, 0x90, 5);
	FAILS(-EINVAL, 0x70 + ARCH_REG_COUNT, 0);
	FAILS(-EINVAL, 0x92, 0x80, 0x80, 0x04, 0);
}

static void test_stack_operations(void **unused)
{
	(void)unused;
	IS(10, 0x35, 0x12, 0x22);		/* 5 dup plus */
	IS(1, 0x31, 0x32, 0x13);		/* 1 2 drop */
	IS(1, 0x31, 0x32, 0x14);		/* 1 2 over */
	IS(1, 0x31, 0x32, 0x33, 0x15, 2);	/* 1 2 3 pick 2 */
	IS(1, 0x31, 0x32, 0x16);		/* 1 2 swap */
	IS(2, 0x31, 0x32, 0x33, 0x17);		/* 1 2 3 rot: 3 1 2 */
	IS(1, 0x31, 0x32, 0x33, 0x17, 0x13);
	IS(3, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13);
	FAILS(-EINVAL, 0x12);
	FAILS(-EINVAL, 0x31, 0x13);		/* nothing left */
	FAILS(-EINVAL, 0x31, 0x14);
	FAILS(-EINVAL, 0x31, 0x15, 1);
	FAILS(-EINVAL, 0x31, 0x16);
	FAILS(-EINVAL, 0x31, 0x32, 0x17);
	FAILS(-EINVAL, 0x31, 0x22);
}

static void test_arithmetic(void **unused)
{
	(void)unused;
	IS(5, 0x09, 0xfb, 0x19);		/* -5 abs */
	IS(5, 0x35, 0x19);
	IS(8, 0x3c, 0x3a, 0x1a);		/* 12 and 10 */
	IS(-3, 0x09, 0xf9, 0x32, 0x1b);		/* -7 div 2 */
	IS(-2, 0x31, 0x33, 0x1c);
	IS(1, 0x37, 0x33, 0x1e, 0x34, 0x1d);	/* 7*3 mod 4 */
	IS(-1, 0x31, 0x1f);
	IS(~5ull, 0x35, 0x20);
	IS(14, 0x3c, 0x3a, 0x21);
	IS(6, 0x3c, 0x3a, 0x27);
	IS(133, 0x35, 0x23, 0x80, 0x01);
	IS(40, 0x35, 0x33, 0x24);
	IS(0, 0x35, 0x08, 64, 0x24);
	IS(UINTPTR_MAX / 2, 0x09, 0xff, 0x31, 0x25);
	IS(0, 0x09, 0xff, 0x08, 64, 0x25);
	IS(-1, 0x09, 0xfe, 0x31, 0x26);
	IS(-1, 0x09, 0x80, 0x08, 64, 0x26);
	IS(0, 0x09, 0x7f, 0x08, 64, 0x26);
	FAILS(-EINVAL, 0x31, 0x30, 0x1b);
	FAILS(-EINVAL, 0x31, 0x30, 0x1d);
	/* The one quotient that does not fit. */
	IS(INTPTR_MIN, 0x31, 0x08, 8 * ARCH_WORD - 1, 0x24, 0x09, 0xff, 0x1b);
}

static void test_comparisons(void **unused)
{
	static const struct {
		uint8_t op;
		bool less, equal, greater;
	} all[] = {
		{ 0x29, false, true, false }, { 0x2a, false, true, true },
		{ 0x2b, false, false, true }, { 0x2c, true, true, false },
		{ 0x2d, true, false, false }, { 0x2e, true, false, true },
	};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint8_t less[] = { 0x09, 0xff, 0x31, all[i].op };
		uint8_t equal[] = { 0x31, 0x31, all[i].op };
		uint8_t greater[] = { 0x31, 0x09, 0xff, all[i].op };
		uint64_t got;

		assert_int_equal(evaluate(less, 4, NULL, &got), 0);
		assert_int_equal(got, all[i].less);
		assert_int_equal(evaluate(equal, 3, NULL, &got), 0);
		assert_int_equal(got, all[i].equal);
		assert_int_equal(evaluate(greater, 4, NULL, &got), 0);
		assert_int_equal(got, all[i].greater);
	}
}

static void test_memory(void **unused)
{
	(void)unused;
	IS(0x1122334455667788, 0x73, 0, 0x06);
	IS(0x99aabbccddeeff00, 0x73, 8, 0x06);
	IS(0x88, 0x73, 0, 0x94, 1);
	IS(0x11, 0x73, 7, 0x94, 1);
	IS(0x5566, 0x73, 2, 0x94, 2);
	IS(0x11223344, 0x73, 4, 0x94, 4);
	if (ARCH_WORD == 8)
		IS(0x1122334455667788, 0x73, 0, 0x94, 8);
	else
		FAILS(-EINVAL, 0x73, 0, 0x94, 8);
	/* The last byte: the next word cannot be read. */
	IS(0, 0x73, 31, 0x94, 1);
	/* Across words. */
	IS(0xeeff0011, 0x73, 7, 0x94, 4);
	FAILS(-EFAULT, 0x73, 32, 0x06);
	FAILS(-EFAULT, 0x30, 0x06);
	FAILS(-EINVAL, 0x73, 0, 0x94, 3);
	FAILS(-EINVAL, 0x73, 0, 0x94, 16);
	FAILS(-EINVAL, 0x06);
}

static void test_flow(void **unused)
{
	(void)unused;
	IS(1, 0x31, 0x2f, 1, 0, 0x32);		/* 1 skip over 2 */
	IS(1, 0x31, 0x31, 0x28, 1, 0, 0x32);	/* taken */
	IS(2, 0x31, 0x30, 0x28, 1, 0, 0x32);	/* not taken */
	IS(1, 0x31, 0x96);
	IS(1, 0x31, 0x2f, 0, 0);
	/* Count down from 5: lit5; lit1 minus dup bra -6. */
	IS(0, 0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff);
	FAILS(-EINVAL, 0x31, 0x2f, 0xfd, 0xff);	/* for ever */
	FAILS(-EINVAL, 0x31, 0x2f, 1, 0);	/* beyond the end */
	FAILS(-EINVAL, 0x31, 0x2f, 0xfb, 0xff);	/* before the start */
	FAILS(-EINVAL, 0x31, 0x2f, 1);		/* cut short */
}

static void test_limits(void **unused)
{
	uint8_t code[EXPR_STACK_MAX + 1], nops[EXPR_STEPS_MAX + 1];
	uint64_t got, initial = 42;

	(void)unused;
	memset(code, 0x31, sizeof(code));
	assert_int_equal(evaluate(code, EXPR_STACK_MAX, NULL, &got), 0);
	assert_int_equal(evaluate(code, sizeof(code), NULL, &got), -EINVAL);
	assert_int_equal(evaluate(code, EXPR_STACK_MAX, &initial, &got),
			 -EINVAL);
	memset(nops, 0x96, sizeof(nops));
	assert_int_equal(evaluate(nops, EXPR_STEPS_MAX, &initial, &got), 0);
	assert_int_equal(got, 42);
	assert_int_equal(evaluate(nops, sizeof(nops), &initial, &got),
			 -EINVAL);
	assert_int_equal(evaluate(code, 0, NULL, &got), -EINVAL);
	assert_int_equal(evaluate(code, 0, &initial, &got), 0);
	assert_int_equal(got, 42);
}

/* Whatever is no operation, or has no place in unwind tables. */
static void test_refused(void **unused)
{
	static const uint8_t refused[] = {
		0x00, 0x01, 0x02, 0x04, 0x05, 0x07, 0x18, 0x91, 0x93, 0x95,
		0x97, 0x98, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0xa0, 0xe0, 0xf0,
		0xff
	};
	uint64_t got;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(refused); i++) {
		uint8_t code[] = { 0x31, 0x31, 0x31, refused[i], 1, 1 };

		assert_int_equal(evaluate(code, sizeof(code), NULL, &got),
				 -EINVAL);
	}
}

/* Every program of two operations, cut short everywhere: no crash. */
static void test_all_pairs(void **unused)
{
	unsigned int a, b, operand;
	uint64_t got;

	(void)unused;
	for (a = 0; a < 256; a++) {
		for (b = 0; b < 256; b++) {
			for (operand = 0; operand < 256; operand += 85) {
				uint8_t o = (uint8_t)operand;
				uint8_t code[] = { 0x32, 0x31, (uint8_t)a, o,
						   (uint8_t)b, o, o };

				evaluate(code, 4 + operand % 4, NULL, &got);
			}
		}
	}
}

static void test_forms(void **unused)
{
	int64_t offset = 0;

	(void)unused;
	assert_true(expr_is_register(CODE(0x76, 0x78), 6, &offset));
	assert_int_equal(offset, -8);
	assert_true(expr_is_register(CODE(0x92, 7, 0xa0, 0x01), 7, &offset));
	assert_int_equal(offset, 160);
	assert_false(expr_is_register(CODE(0x76, 0x78), 7, &offset));
	assert_false(expr_is_register(CODE(0x76, 0x78, 0x06), 6, &offset));
	assert_false(expr_is_register(CODE(0x76), 6, &offset));
	assert_false(expr_is_register(CODE(0x76, 0x80), 6, &offset));
	assert_true(expr_is_deref(CODE(0x76, 0x10, 0x06), 6, &offset));
	assert_int_equal(offset, 16);
	assert_false(expr_is_deref(CODE(0x76, 0x10), 6, &offset));
	assert_false(expr_is_deref(CODE(0x76, 0x10, 0x06, 0x96), 6, &offset));
	assert_false(expr_is_deref(CODE(0x76, 0x10, 0x96), 6, &offset));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_stack_operations),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
