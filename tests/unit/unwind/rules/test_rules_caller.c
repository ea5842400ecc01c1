/*
 * test_rules_caller.c: from frame to caller, by rules of each kind, in signal
 * frames and where the tables are broken.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rules_builder.h"

/* A word at an address is what the test put on the stack there. */
static uint64_t stack[64];

static bool read_stack(void *ctx, uintptr_t address, uint64_t *value)
{
	uintptr_t base = (uintptr_t)stack;

	(void)ctx;
	if (address < base || address > base + sizeof(stack) - 8)
		return false;
	memcpy(value, (const void *)address, 8);
	return true;
}

static struct arch_regs regs;
static bool is_signal;

static int step(uint64_t offset, bool exact)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		stack[i] = 0xcafe0000 + i;
	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs.r[i] = 0x1000 + i;
	regs.r[ARCH_REG_PC] = CODE + offset;
	regs.r[ARCH_REG_SP] = (uintptr_t)&stack[16];
	regs.r[ARCH_REG_FP] = (uintptr_t)&stack[32];
	regs.r[10] = (uintptr_t)&stack[40];
	return rules_step_full(image, &regs, exact, &is_signal, read_stack,
			       NULL);
}

static void pc_sp_fp(uint64_t pc, const uint64_t *sp, uint64_t fp)
{
	assert_int_equal(regs.r[ARCH_REG_PC], pc);
	assert_int_equal(regs.r[ARCH_REG_SP], (uintptr_t)sp);
	assert_int_equal(regs.r[ARCH_REG_FP], fp);
}

static void test_step_frames(void **unused)
{
	uintptr_t fp = (uintptr_t)&stack[32];

	(void)unused;
	start();
	FDE(0x0e, 48, 0x83, 2, 0x8c, 3, 0x8d, 4, 0x86, 5, 0x44, 0x0c, 6, 16,
	    0x86, 2, 0xc3, 0x08, 12, 0x07, 13);
	seal();
	assert_int_equal(step(0, true), 0);
	pc_sp_fp(0xcafe0000 + 21, &stack[22], 0xcafe0000 + 17);
	assert_int_equal(regs.r[3], 0xcafe0000 + 20);
	assert_int_equal(regs.r[12], 0xcafe0000 + 19);
	assert_int_equal(regs.r[13], 0xcafe0000 + 18);
	assert_int_equal(regs.r[14], 0x1000 + 14);
	assert_false(is_signal);
	/* A return address belongs to the instruction before it. */
	assert_int_equal(step(4, false), 0);
	pc_sp_fp(0xcafe0000 + 21, &stack[22], 0xcafe0000 + 17);
	assert_int_equal(step(4, true), 0);
	pc_sp_fp(0xcafe0000 + 33, &stack[34], 0xcafe0000 + 32);
	assert_int_equal(regs.r[3], 0x1003);
	assert_int_equal(regs.r[12], 0x100c);
	assert_int_equal(regs.r[13], 0x100d);
	assert_int_equal(step(0, false), -ENOENT);
	assert_int_equal(step(256, true), -ENOENT);
	assert_int_equal(step(256, false), 0);
	assert_int_equal(fp, (uintptr_t)&stack[32]);
}

static void test_step_complex(void **unused)
{
	(void)unused;
	start();
	/* By r10; then realigned; then all other ways to save registers. */
	FDE(0x0c, 10, 8, 0x44, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0,
	    0x10, 3, 2, 0x76, 0x70, 0x44, 0x0c, 7, 16, 0x09, 3, 14, 0x14, 12,
	    2, 0x15, 13, 1, 0x16, 14, 3, 0x23, 4, 0x96, 0x10, 15, 2, 0x23, 8,
	    0xc6);
	seal();
	assert_int_equal(step(0, true), 0);
	pc_sp_fp(0xcafe0000 + 40, &stack[41], (uintptr_t)&stack[32]);
	assert_int_equal(step(4, true), -EFAULT);	/* CFA 0xcafe.. */
	assert_int_equal(step(8, true), 0);
	pc_sp_fp(0xcafe0000 + 17, &stack[18], (uintptr_t)&stack[32]);
	assert_int_equal(regs.r[3], 0x100e);
	assert_int_equal(regs.r[12], (uintptr_t)&stack[16]);
	assert_int_equal(regs.r[13], (uintptr_t)&stack[17]);
	assert_int_equal(regs.r[14], (uintptr_t)&stack[18] + 4);
	assert_int_equal(regs.r[15], 0xcafe0000 + 19);
}

static void test_step_realigned(void **unused)
{
	(void)unused;
	start();
	FDE(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76,
	    0x70);
	seal();
	kind_is(0, RULE_DEREF);
	step(0, true);
	/* As in a frame, *(fp - 8) is an address further out. */
	regs.r[ARCH_REG_PC] = CODE;
	regs.r[ARCH_REG_FP] = (uintptr_t)&stack[32];
	stack[31] = (uintptr_t)&stack[50];
	assert_int_equal(rules_step_full(image, &regs, true, &is_signal,
					 read_stack, NULL), 0);
	pc_sp_fp(0xcafe0000 + 49, &stack[50], 0xcafe0000 + 32);
	assert_int_equal(regs.r[3], 0xcafe0000 + 30);
}

static void test_step_plt(void **unused)
{
	(void)unused;
	start();
	FDE(0x0f, 11, ARCH_PLT_EXPRESSION);
	seal();
	assert_int_equal(step(10, true), 0);
	pc_sp_fp(0xcafe0000 + 16, &stack[17], (uintptr_t)&stack[32]);
	assert_int_equal(step(11, true), 0);
	pc_sp_fp(0xcafe0000 + 17, &stack[18], (uintptr_t)&stack[32]);
}

static void test_step_signal(void **unused)
{
	static const uint8_t encoding = ENC_ABS8;

	(void)unused;
	start();
	cie = begin_cie(&b, "zRS", &encoding, 1);
	end_record(&b);
	FDE(SIGNAL_ROW(0xa8));
	seal();
	assert_int_equal(step(0, true), 0);
	assert_true(is_signal);
	assert_int_equal(regs.r[ARCH_REG_PC],
			 stack[16 + ARCH_SIGFRAME_PC / 8]);
	assert_int_equal(regs.r[ARCH_REG_SP],
			 stack[16 + ARCH_SIGFRAME_SP / 8]);
	assert_int_equal(regs.r[ARCH_REG_FP],
			 stack[16 + ARCH_SIGFRAME_FP / 8]);
}

static void test_step_errors(void **unused)
{
	(void)unused;
	start();
	FDE(0x07, 16, 0x44, 0xd0, 0x08, 16, 0x44, 0xd0, 0x0e, 0x80, 0x80, 4,
	    0x44, 0x09, 16, 17, 0x0e, 8, 0x44, 0xd0, 0x0f, 1, 0x22, 0x44,
	    0x3f);
	seal();
	assert_int_equal(step(0, true), 1);
	assert_int_equal(step(4, true), -EINVAL);	/* pc kept */
	assert_int_equal(step(8, true), -EFAULT);
	assert_int_equal(step(12, true), -EINVAL);	/* in no register */
	assert_int_equal(step(16, true), -EINVAL);	/* bad expression */
	assert_int_equal(step(20, true), -EINVAL);	/* bad program */
	assert_int_equal(step(CODE_SIZE, true), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step_frames),
		cmocka_unit_test(test_step_complex),
		cmocka_unit_test(test_step_realigned),
		cmocka_unit_test(test_step_plt),
		cmocka_unit_test(test_step_signal),
		cmocka_unit_test(test_step_errors),
	};

	return cmocka_run_group_tests_name("rules_caller", tests, NULL, NULL);
}
