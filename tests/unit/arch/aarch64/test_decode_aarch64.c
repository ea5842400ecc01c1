/*
 * test_decode_aarch64.c: what instructions of AArch64 do to a frame, by their
 * bits. The decoder is plain C: it is tested on any machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/aarch64/decode.h"

#define R(n) (UINT64_C(1) << (n))

static uint32_t code[4];
static unsigned mode;

/* One instruction, with what is left of those before it. */
static struct arch_operation then(uint32_t word)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	code[0] = word;
	arch_decode((const void *)code, sizeof(code), &mode, &op);
	return op;
}

static struct arch_operation one(uint32_t word)
{
	mode = 0;
	return then(word);
}

static void moves(struct arch_operation op, unsigned kind, uint64_t mask,
		  unsigned base, int64_t value, int32_t step)
{
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.mask, mask);
	assert_int_equal(op.a, base);
	assert_int_equal(op.value, value);
	assert_int_equal(op.step, step);
}

static void adds(struct arch_operation op, unsigned d, unsigned a,
		 int64_t value)
{
	assert_int_equal(op.kind, ARCH_OP_ADD);
	assert_int_equal(op.d, d);
	assert_int_equal(op.a, a);
	assert_int_equal(op.value, value);
}

static void sets(struct arch_operation op, unsigned d, int64_t value)
{
	assert_int_equal(op.kind, ARCH_OP_SET);
	assert_int_equal(op.d, d);
	assert_int_equal(op.value, value);
}

static void writes(struct arch_operation op, uint64_t mask)
{
	assert_int_equal(op.kind, ARCH_OP_OTHER);
	assert_int_equal(op.mask, mask);
}

static void goes(struct arch_operation op, unsigned kind, intptr_t bytes)
{
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.target - (uintptr_t)code, bytes);
}

static void words_of_frames(void **unused)
{
	(void)unused;
	/* stp x29, x30, [sp, #-32]!; ldp x29, x30, [sp], #32 */
	moves(one(0xa9be7bfd), ARCH_OP_STORE, R(29) | R(30), 31, -32, -32);
	moves(one(0xa8c27bfd), ARCH_OP_LOAD, R(29) | R(30), 31, 0, 32);
	assert_false(one(0xa9be7bfd).falls);
	/* stp x20, x19, [sp, #16]; stp xzr, x19, [sp, #16] */
	moves(one(0xa9014ff4), ARCH_OP_STORE, R(19) | R(20), 31, 16, 0);
	assert_true(one(0xa9014ff4).falls);
	moves(one(0xa9014fff), ARCH_OP_STORE, R(19), 31, 24, 0);
	/* str x30, [sp, #-16]!; ldr x30, [sp], #16; ldr x30, [sp, #24] */
	moves(one(0xf81f0ffe), ARCH_OP_STORE, R(30), 31, -16, -16);
	moves(one(0xf84107fe), ARCH_OP_LOAD, R(30), 31, 0, 16);
	moves(one(0xf9400ffe), ARCH_OP_LOAD, R(30), 31, 24, 0);
	/* stur x19, [x29, #-8] */
	moves(one(0xf81f83b3), ARCH_OP_STORE, R(19), 29, -8, 0);
}

static void other_loads_and_stores(void **unused)
{
	(void)unused;
	/* str xzr, [sp, #1024]; str wzr, [sp, #-16]! */
	writes(one(0xf90203ff), 0);
	adds(one(0xb81f0fff), 31, 31, -16);
	/* stp d8, d9, [sp, #-64]!; ldp d8, d9, [sp], #64; ldr q0, [sp], #16 */
	adds(one(0x6dbc27e8), 31, 31, -64);
	adds(one(0x6cc427e8), 31, 31, 64);
	adds(one(0x3cc107e0), 31, 31, 16);
	/* ldp w0, w1, [sp, #8]; ldpsw x0, x1, [sp] */
	writes(one(0x294107e0), R(0) | R(1));
	writes(one(0x694007e0), R(0) | R(1));
	/* str x0, [sp, x1]; ldr x0, [sp, x1]; prfm; ldr x19, . */
	writes(one(0xf8216be0), 0);
	writes(one(0xf8616be0), R(0));
	writes(one(0xf9800000), 0);
	writes(one(0x58000013), R(19));
	/* ld1 {v0.16b}, [x0], #16; ldraa x19, [x0, #8]!; stg sp, [sp], #16 */
	writes(one(0x4cdf7000), R(0));
	writes(one(0xf8201c13), R(19) | R(0));
	assert_true(one(0xd92017ff).mask & R(31));
	/* ldxr x19, [x0]; stlxr w20, x19, [x0]; ldapr x19, [x0] */
	writes(one(0xc85f7c13), R(19));
	writes(one(0xc814fc13), R(20));
	writes(one(0xf8bfc013), R(19));
	/* casal x19, x20, [x0]; casp x2, x3, x4, x5, [x0] */
	writes(one(0xc8f3fc14), R(19));
	writes(one(0x48227c04), R(2) | R(3));
	/* ldaddal x19, x20, [x0]; swp x19, x20, [x0] */
	writes(one(0xf8f30014), R(20));
	writes(one(0xf8338014), R(20));
}

static void sums(void **unused)
{
	struct arch_operation op;

	(void)unused;
	/* sub sp, sp, #0x18, lsl #12; mov x29, sp; mov sp, x29; mov x19, x0 */
	adds(one(0xd14063ff), 31, 31, -0x18000);
	adds(one(0x910003fd), 29, 31, 0);
	adds(one(0x910003bf), 31, 29, 0);
	adds(one(0xaa0003f3), 19, 0, 0);
	/* subs x0, x1, #16; cmp sp, #16; sub w0, w1, #16 */
	adds(one(0xf1004020), 0, 1, -16);
	writes(one(0xf10043ff), 0);
	writes(one(0x51004020), R(0));
	/* sub sp, sp, x12; add sp, sp, x12; sub x0, x1, x2, lsl #3 */
	op = one(0xcb2c63ff);
	assert_int_equal(op.kind, ARCH_OP_DIFFERENCE);
	assert_true(op.d == 31 && op.a == 31 && op.b == 12);
	assert_int_equal(one(0x8b2c63ff).kind, ARCH_OP_SUM);
	writes(one(0xcb020c20), R(0));
	/* and sp, x9, #-64; addvl sp, sp, #-2; addg sp, sp, #16, #1 */
	writes(one(0x927ae53f), R(31));
	writes(one(0x043f57df), R(31));
	writes(one(0x918107ff), R(31));
}

static void constants(void **unused)
{
	(void)unused;
	/* mov x0, xzr; mov x12, #34464; movk x12, #1, lsl #16 */
	sets(one(0xaa1f03e0), 0, 0);
	sets(one(0xd290d40c), 12, 34464);
	adds(then(0xf2a0002c), 12, 12, 65536);
	/* a second one of that part; one of nothing known */
	writes(then(0xf2a0002c), R(12));
	writes(one(0xf2a0002c), R(12));
	/* mov x12, #34464; mov x12, x0; movk */
	one(0xd290d40c);
	then(0xaa0003ec);
	writes(then(0xf2a0002c), R(12));
	/* mov x12, #-65536; movk x12, #1, lsl #16 */
	sets(one(0x929fffec), 12, -65536);
	adds(then(0xf2a0002c), 12, 12, 65536 - 0xffff0000ll);
	/* mov w0, #-1; patterns, of 16 bits repeated and of 64 */
	sets(one(0x12800000), 0, 0xffffffff);
	sets(one(0xb20cafe9), 9, -0xf000f000f0010ll);
	sets(one(0xb27d3fe9), 9, 0x7fff8);
}

/* cmp sp, x12 and b.ne back: the loop has ended when they are equal. */
static void probes(void **unused)
{
	(void)unused;
	code[1] = 0x54ffffa1;
	adds(one(0xeb2c63ff), 31, 12, 0);
	code[1] = 0x540000a1;
	writes(one(0xeb2c63ff), 0);
	code[1] = 0;
}

static void ways(void **unused)
{
	(void)unused;
	goes(one(0x94000002), ARCH_OP_CALL, 8);			/* bl */
	goes(one(0x17ffffff), ARCH_OP_JUMP, -4);		/* b */
	goes(one(0xb4000040), ARCH_OP_BRANCH, 8);		/* cbz */
	goes(one(0x37180040), ARCH_OP_BRANCH, 8);		/* tbnz */
	goes(one(0x54ffffa1), ARCH_OP_BRANCH, -12);		/* b.ne */
	assert_int_equal(one(0xd63f0020).kind, ARCH_OP_CALL);	/* blr */
	assert_int_equal(one(0xd63f083f).kind, ARCH_OP_CALL);	/* blraaz */
	assert_int_equal(one(0xd65f03c0).kind, ARCH_OP_LEAVE);	/* ret */
	assert_int_equal(one(0xd65f03c0).a, 30);
	assert_int_equal(one(0xd65f0bff).kind, ARCH_OP_LEAVE);	/* retaa */
	assert_int_equal(one(0xd65f0bff).a, 30);
	assert_int_equal(one(0xd61f0200).kind, ARCH_OP_LEAVE);	/* br x16 */
	assert_int_equal(one(0xd61f0200).a, 16);
	assert_int_equal(one(0xd4207d00).kind, ARCH_OP_END);	/* brk */
	assert_int_equal(one(0x00000000).kind, ARCH_OP_END);	/* udf */
	assert_int_equal(one(0xd69f03e0).kind, ARCH_OP_END);	/* eret */
	/* add x1, x0, w1, sxtb #2; br x1: a switch */
	one(0x8b218801);
	assert_int_equal(then(0xd61f0020).kind, ARCH_OP_END);
	one(0x8b218801);
	then(0xf9400001);		/* ldr x1, [x0] */
	assert_int_equal(then(0xd61f0020).kind, ARCH_OP_LEAVE);
}

static void signatures(void **unused)
{
	/* paciasp, autiasp, bti c, pacia x30, xpaclri, nop */
	static const uint32_t none[] = { 0xd503233f, 0xd50323bf, 0xd503245f,
					 0xdac103fe, 0xd50320ff, 0xd503201f };
	unsigned i;

	(void)unused;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		writes(one(none[i]), 0);
}

static void others(void **unused)
{
	(void)unused;
	writes(one(0xd4000001), R(0));		/* svc */
	writes(one(0x9b210813), R(19));		/* smaddl */
	writes(one(0xfa410000), 0);		/* ccmp */
	writes(one(0x9a810013), R(19));		/* csel */
	writes(one(0xd53bd053), R(19));		/* mrs */
	writes(one(0x9e660013), R(19));		/* fmov x19, d0 */
	writes(one(0x9e670260), 0);		/* fmov d0, x19 */
	writes(one(0x9e780013), R(19));		/* fcvtzs */
	writes(one(0x0e0c3c13), R(19));		/* umov */
	writes(one(0x9e620260), 0);		/* scvtf */
	writes(one(0x04e0e3f3), R(19));		/* cntd */
	writes(one(0x80800000), A64_ALL);	/* a matrix's */
}

static void nothing_beyond_the_end(void **unused)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	(void)unused;
	arch_decode((const void *)code, 3, &mode, &op);
	assert_int_equal(op.size, 0);
	assert_int_equal(op.kind, ARCH_OP_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_frames),
		cmocka_unit_test(other_loads_and_stores),
		cmocka_unit_test(sums),
		cmocka_unit_test(constants),
		cmocka_unit_test(probes),
		cmocka_unit_test(ways),
		cmocka_unit_test(signatures),
		cmocka_unit_test(others),
		cmocka_unit_test(nothing_beyond_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
