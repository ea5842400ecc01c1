/*
 * test_exidx.c: ARM's unwind tables, made by hand: each instruction by its
 * bytes, entries inline, short and long, and what leads outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "unwind/rules/exidx.h"

#define BASE 0x10000u
#define INDEX (BASE + 0x100)
#define TABLE (BASE + 0x80)

static uint8_t bytes[0x200];
static struct exidx_image image = {
	bytes, BASE, BASE + sizeof(bytes), INDEX, INDEX
};

static void put(uint32_t address, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		bytes[address - BASE + i] = (uint8_t)(word >> 8 * i);
}

static uint32_t prel31(uint32_t from, uint32_t to)
{
	return (to - from) & 0x7fffffff;
}

static void add_entry(uint32_t function, uint32_t what)
{
	put(image.index_end, prel31(image.index_end, function));
	put(image.index_end + 4, what);
	image.index_end += 8;
}

static int begin(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	image.index_end = INDEX;
	return 0;
}

/* An entry with these four bytes of program. */
static struct exidx_entry with(uint32_t program)
{
	struct exidx_entry entry;

	begin(NULL);
	put(TABLE, 0x81010000 | program >> 16);
	put(TABLE + 4, program << 16 | 0xb0b0);
	add_entry(BASE, prel31(INDEX + 4, TABLE));
	assert_int_equal(exidx_find(&image, BASE + 2, &entry), 0);
	assert_int_equal(entry.personality, 1);
	return entry;
}

static void assert_op(uint32_t program, enum exidx_op_kind kind,
		      int32_t amount, uint16_t mask)
{
	struct exidx_entry entry = with(program);
	struct exidx_op op;

	assert_int_equal(exidx_next(&entry.program, &op), 0);
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.amount, amount);
	assert_int_equal(op.mask, mask);
}

static void assert_spare(uint32_t program)
{
	struct exidx_entry entry = with(program);
	struct exidx_op op;

	assert_int_equal(exidx_next(&entry.program, &op), -EINVAL);
}

static void instructions(void **state)
{
	(void)state;
	assert_op(0x00b0b0b0, EXIDX_ADD, 4, 0);
	assert_op(0x3fb0b0b0, EXIDX_ADD, 256, 0);
	assert_op(0x40b0b0b0, EXIDX_ADD, -4, 0);
	assert_op(0x7fb0b0b0, EXIDX_ADD, -256, 0);
	assert_op(0x8000b0b0, EXIDX_REFUSE, 0, 0);
	assert_op(0x8408b0b0, EXIDX_POP, 0, 1 << 14 | 1 << 7);
	assert_op(0x8fffb0b0, EXIDX_POP, 0, 0xfff0);
	assert_op(0x9bb0b0b0, EXIDX_SET, 11, 0);
	assert_spare(0x9db0b0b0);
	assert_spare(0x9fb0b0b0);
	assert_op(0xa0b0b0b0, EXIDX_POP, 0, 1 << 4);
	assert_op(0xafb0b0b0, EXIDX_POP, 0, 0x4ff0);
	assert_op(0xb0000000, EXIDX_FINISH, 0, 0);
	assert_op(0xb10fb0b0, EXIDX_POP, 0, 0xf);
	assert_spare(0xb100b0b0);
	assert_spare(0xb110b0b0);
	assert_op(0xb200b0b0, EXIDX_ADD, 0x204, 0);
	assert_op(0xb28101b0, EXIDX_ADD, 0x204 + (129 << 2), 0);
	assert_spare(0xb2808080);
	assert_op(0xb383b0b0, EXIDX_SKIP, 4 * 8 + 4, 0);
	assert_spare(0xb3f1b0b0);
	assert_spare(0xb6b0b0b0);
	assert_op(0xb8b0b0b0, EXIDX_SKIP, 12, 0);
	assert_op(0xbfb0b0b0, EXIDX_SKIP, 68, 0);
	assert_op(0xc5b0b0b0, EXIDX_SKIP, 48, 0);
	assert_op(0xc712b0b0 & 0xff0fffff, EXIDX_SKIP, 4, 0);
	assert_spare(0xc700b0b0);
	assert_op(0xc8f0b0b0, EXIDX_SKIP, 8, 0);
	assert_op(0xc983b0b0, EXIDX_SKIP, 32, 0);
	assert_spare(0xcab0b0b0);
	assert_op(0xd7b0b0b0, EXIDX_SKIP, 64, 0);
	assert_spare(0xd8b0b0b0);
	assert_spare(0xffb0b0b0);
}

static void finding(void **state)
{
	struct exidx_entry entry;

	(void)state;
	assert_int_equal(exidx_find(&image, BASE, &entry), -ENOENT);
	add_entry(BASE + 0x10, 0x80a8b0b0);
	add_entry(BASE + 0x20, 1);
	add_entry(BASE + 0x30, prel31(image.index_end + 4, TABLE));
	put(TABLE, prel31(TABLE, BASE + 0x10));
	put(TABLE + 4, 0x0184abb0);
	put(TABLE + 8, 0x9bb0b0b0);
	assert_int_equal(exidx_find(&image, BASE + 0xf, &entry), -ENOENT);
	assert_int_equal(exidx_find(&image, BASE + 0x1f, &entry), 0);
	assert_int_equal(entry.start, BASE + 0x10);
	assert_int_equal(entry.end, BASE + 0x20);
	assert_int_equal(entry.personality, 0);
	assert_int_equal(exidx_find(&image, BASE + 0x20, &entry), 0);
	assert_true(entry.cannot);
	assert_int_equal(exidx_rule(&entry, 11).kind, RULE_END);
	assert_int_equal(exidx_find(&image, BASE + 0x3000, &entry), 0);
	assert_int_equal(entry.personality, EXIDX_GENERIC);
	assert_int_equal(entry.program.end - entry.program.at, 7);
	assert_int_equal(exidx_at(&image, 3, &entry), -ENOENT);
}

static void malformed_entries(void **state)
{
	struct exidx_entry entry;

	(void)state;
	add_entry(BASE, 0x81b0b0b0);	/* inline, but of another kind */
	assert_int_equal(exidx_find(&image, BASE, &entry), -EINVAL);
	begin(NULL);
	add_entry(BASE, prel31(INDEX + 4, BASE - 4));	/* leads outside */
	assert_int_equal(exidx_find(&image, BASE, &entry), -EINVAL);
	add_entry(BASE, prel31(INDEX + 12, TABLE));
	put(TABLE, 0x83000000);		/* a personality that is not there */
	assert_int_equal(exidx_at(&image, 1, &entry), -EINVAL);
	put(TABLE, 0x82ff0101);		/* longer than the image */
	assert_int_equal(exidx_at(&image, 1, &entry), 0);
	assert_int_equal(exidx_rule(&entry, 11).kind, RULE_BAD);
	image.index_end = image.end + 8;
	assert_int_equal(exidx_find(&image, BASE, &entry), -ENOENT);
}

static void rules(void **state)
{
	struct exidx_entry entry;
	struct exidx_frame frame;
	struct rule rule;

	(void)state;
	/* push {r4, r11, lr}; add r11, sp, #8; …: vsp = r11, vsp -= 8, pop */
	entry = with(0x9b418481);
	put(TABLE + 4, 0x8481b0b0);
	rule = exidx_rule(&entry, EXIDX_FP_ARM);
	assert_int_equal(exidx_frame(&entry, &frame), 0);
	assert_int_equal(frame.saved, 1 << 4 | 1 << 11 | 1 << 14);
	assert_int_equal(rule.kind, RULE_FRAME);
	assert_int_equal(rule.base, RULE_BASE_FP);
	assert_int_equal(rule.cfa_off, 4);
	assert_int_equal(rule.fp_off, -2);
	/* another register than the frame pointer */
	assert_int_equal(exidx_rule(&entry, EXIDX_FP_THUMB).kind,
			 RULE_COMPLEX);
	/* sub sp, #8 behind a push of r4 and lr */
	entry = with(0x01a8b0b0);
	rule = exidx_rule(&entry, EXIDX_FP_ARM);
	assert_int_equal(rule.base, RULE_BASE_SP);
	assert_int_equal(rule.cfa_off, 16);
	assert_int_equal(rule.fp_off, 0);
	/* nothing is saved: lr holds the caller's pc */
	entry = with(0xb0b0b0b0);
	assert_int_equal(exidx_rule(&entry, EXIDX_FP_ARM).kind, RULE_COMPLEX);
	/* vpush {d8, d9} behind a push of lr, and sub sp, #12 */
	entry = with(0x02c98184);
	put(TABLE + 4, 0x818400b0);
	assert_int_equal(exidx_frame(&entry, &frame), 0);
	assert_int_equal(frame.vectors, 3);
	assert_int_equal(frame.vector_at[0], -20);
	assert_int_equal(frame.vector_at[1], -12);
	assert_int_equal(frame.cfa_off, 32);
	/* sp itself is popped */
	entry = with(0x8600b0b0);
	assert_int_equal(exidx_rule(&entry, EXIDX_FP_ARM).kind, RULE_COMPLEX);
}

static bool read_stack(void *ctx, uint32_t address, uint32_t *value)
{
	(void)ctx;
	*value = address * 3;
	return address < 0x9000;
}

static void stepping(void **state)
{
	uint32_t regs[EXIDX_REGISTERS] = { [EXIDX_SP] = 0x8000,
					   [EXIDX_LR] = 0x77 };
	struct exidx_entry entry = with(0x01a8b0b0);

	(void)state;
	assert_int_equal(exidx_step(&entry, regs, read_stack, NULL), 0);
	assert_int_equal(regs[EXIDX_SP], 0x8010);
	assert_int_equal(regs[4], 0x8008 * 3);
	assert_int_equal(regs[EXIDX_PC], 0x800c * 3);
	entry = with(0xb0b0b0b0);
	regs[EXIDX_LR] = 0x55;
	assert_int_equal(exidx_step(&entry, regs, read_stack, NULL), 0);
	assert_int_equal(regs[EXIDX_PC], 0x55);
	regs[EXIDX_SP] = 0x8ffc;
	entry = with(0xa9b0b0b0);
	assert_int_equal(exidx_step(&entry, regs, read_stack, NULL), -EFAULT);
	entry = with(0x8000b0b0);
	assert_int_equal(exidx_step(&entry, regs, read_stack, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(instructions, begin),
		cmocka_unit_test_setup(finding, begin),
		cmocka_unit_test_setup(malformed_entries, begin),
		cmocka_unit_test_setup(rules, begin),
		cmocka_unit_test_setup(stepping, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
