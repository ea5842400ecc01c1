/*
 * test_decode.c: what instructions of 32-bit ARM do to a frame, by their bits, of
 * both kinds; and of which kind a call was. The decoders are plain C: they are
 * tested on any machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/arm/decode.h"

#define R(n) (UINT64_C(1) << (n))
#define SAVED (R(4) | R(5) | R(6) | R(7) | R(8) | R(9) | R(10) | R(11))

/* At a multiple of 4. */
static uint32_t code[4];
static unsigned mode;

static struct arch_operation arm(uint32_t word)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	code[0] = word;
	mode = 0;
	arch_decode((const void *)code, sizeof(code), &mode, &op);
	return op;
}

/* Two half-words; the second may be another instruction. */
static struct arch_operation thumb(uint16_t first, uint16_t second)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	code[0] = (uint32_t)second << 16 | first;
	mode = THUMB_MODE;
	arch_decode((const void *)code, sizeof(code), &mode, &op);
	return op;
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

static void goes(struct arch_operation op, unsigned kind, intptr_t bytes)
{
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.target - (uintptr_t)code, bytes);
}

static void arm_frames(void **unused)
{
	(void)unused;
	/* push {r4-r11, lr}; pop {r4-r11, pc} */
	moves(arm(0xe92d4ff0), ARCH_OP_STORE, SAVED | R(14), 13, -36, -36);
	moves(arm(0xe8bd8ff0), ARCH_OP_LOAD, SAVED | R(15), 13, 0, 36);
	/* push {lr}; pop {pc}; str r3, [sp, #4] */
	moves(arm(0xe52de004), ARCH_OP_STORE, R(14), 13, -4, -4);
	moves(arm(0xe49df004), ARCH_OP_LOAD, R(15), 13, 0, 4);
	moves(arm(0xe58d3004), ARCH_OP_STORE, R(3), 13, 4, 0);
	/* sub sp, sp, #16; add r11, sp, #28; sub sp, r11, #28; mov ip, sp */
	adds(arm(0xe24dd010), 13, 13, -16);
	adds(arm(0xe28db01c), 11, 13, 28);
	adds(arm(0xe24bd01c), 13, 11, -28);
	adds(arm(0xe1a0c00d), 12, 13, 0);
	/* addeq sp, sp, #4 */
	assert_true(arm(0x028dd004).conditional);
}

static void arm_ways(void **unused)
{
	(void)unused;
	assert_int_equal(arm(0xeb000000).kind, ARCH_OP_CALL);	/* bl */
	assert_int_equal(arm(0xe12fff33).kind, ARCH_OP_CALL);	/* blx r3 */
	assert_int_equal(arm(0xfa000000).kind, ARCH_OP_CALL);	/* blx */
	assert_int_equal(arm(0xe12fff1e).kind, ARCH_OP_LEAVE);	/* bx lr */
	assert_int_equal(arm(0xe12fff1e).a, 14);
	goes(arm(0xeafffffe), ARCH_OP_JUMP, 0);			/* b . */
	goes(arm(0x0a000001), ARCH_OP_BRANCH, 12);		/* beq */
	assert_int_equal(arm(0xe7f000f0).kind, ARCH_OP_END);	/* udf */
}

static void thumb_frames(void **unused)
{
	(void)unused;
	/* push {r4, r7, lr}; pop {r4, r7, pc} */
	moves(thumb(0xb590, 0), ARCH_OP_STORE, R(4) | R(7) | R(14), 13, -12,
	      -12);
	moves(thumb(0xbd90, 0), ARCH_OP_LOAD, R(4) | R(7) | R(15), 13, 0, 12);
	/* the same of 32 bits, and of one register */
	moves(thumb(0xe92d, 0x4ff0), ARCH_OP_STORE, SAVED | R(14), 13, -36,
	      -36);
	moves(thumb(0xe8bd, 0x8ff0), ARCH_OP_LOAD, SAVED | R(15), 13, 0, 36);
	moves(thumb(0xf84d, 0xed04), ARCH_OP_STORE, R(14), 13, -4, -4);
	moves(thumb(0xf85d, 0xfb04), ARCH_OP_LOAD, R(15), 13, 0, 4);
	/* str r3, [sp, #4]; strd r3, r4, [sp, #8]; vpush {d8} */
	moves(thumb(0x9301, 0), ARCH_OP_STORE, R(3), 13, 4, 0);
	moves(thumb(0xe9cd, 0x3402), ARCH_OP_STORE, R(3) | R(4), 13, 8, 0);
	adds(thumb(0xed2d, 0x8b02), 13, 13, -8);
	/* sub sp, #12; add r7, sp, #8; adds r7, #20; mov sp, r7 */
	adds(thumb(0xb083, 0), 13, 13, -12);
	adds(thumb(0xaf02, 0), 7, 13, 8);
	adds(thumb(0x3714, 0), 7, 7, 20);
	adds(thumb(0x46bd, 0), 13, 7, 0);
	/* sub.w sp, sp, #5440; subw sp, sp, #1108 */
	adds(thumb(0xf5ad, 0x5daa), 13, 13, -5440);
	adds(thumb(0xf2ad, 0x4d54), 13, 13, -1108);
	assert_int_equal(thumb(0xb083, 0).size, 2);
	assert_int_equal(thumb(0xf5ad, 0x5daa).size, 4);
}

static void thumb_ways(void **unused)
{
	(void)unused;
	assert_int_equal(thumb(0xf7ff, 0xfffe).kind, ARCH_OP_CALL);	/* bl */
	assert_int_equal(thumb(0xf7ff, 0xeffe).kind, ARCH_OP_CALL);	/* blx */
	assert_int_equal(thumb(0x4798, 0).kind, ARCH_OP_CALL);	/* blx r3 */
	assert_int_equal(thumb(0x4770, 0).kind, ARCH_OP_LEAVE);	/* bx lr */
	goes(thumb(0xe7fe, 0), ARCH_OP_JUMP, 0);		/* b.n . */
	goes(thumb(0xf7ff, 0xbffe), ARCH_OP_JUMP, 0);		/* b.w . */
	goes(thumb(0xd001, 0), ARCH_OP_BRANCH, 6);		/* beq */
	goes(thumb(0xb108, 0), ARCH_OP_BRANCH, 6);		/* cbz r0 */
	assert_int_equal(thumb(0xde00, 0).kind, ARCH_OP_END);	/* udf */
}

/* it eq; moveq sp, r7: of the next instruction alone. */
static void blocks(void **unused)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	(void)unused;
	assert_int_equal(thumb(0xbf08, 0x46bd).kind, ARCH_OP_OTHER);
	arch_decode((const uint8_t *)code + 2, 2, &mode, &op);
	assert_true(op.conditional);
	arch_decode((const uint8_t *)code + 2, 2, &mode, &op);
	assert_false(op.conditional);
}

/* What is cut short is no instruction. */
static void ends(void **unused)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	(void)unused;
	code[0] = 0x4ff0e92d;
	mode = THUMB_MODE;
	arch_decode((const void *)code, 2, &mode, &op);
	assert_int_equal(op.kind, ARCH_OP_END);
	assert_int_equal(op.size, 0);
}

static unsigned kind_behind(uint16_t first, uint16_t second)
{
	code[0] = (uint32_t)second << 16 | first;
	return arch_code_mode((uintptr_t)(code + 1), false);
}

/* Some calls are calls of both kinds. */
static void kinds(void **unused)
{
	(void)unused;
	assert_int_equal(kind_behind(0x0000, 0xeb00), 0);	/* bl +8 */
	assert_int_equal(kind_behind(0xff33, 0xe12f), 0);	/* blx r3 */
	assert_int_equal(kind_behind(0x4630, 0x4798), THUMB_MODE);
	assert_int_equal(kind_behind(0xf000, 0xf800), THUMB_MODE);
	/* bl +0x400 is blx of ARM, to 8 MB from there */
	assert_int_equal(kind_behind(0xf000, 0xfa00), THUMB_MODE);
	/* bl -0x3c00 of ARM is blx of Thumb, to 12 MB from there */
	assert_int_equal(kind_behind(0xf100, 0xebff), 0);
	assert_int_equal(arch_code_mode((uintptr_t)code + 6, false),
			 THUMB_MODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arm_frames),
		cmocka_unit_test(arm_ways),
		cmocka_unit_test(thumb_frames),
		cmocka_unit_test(thumb_ways),
		cmocka_unit_test(blocks),
		cmocka_unit_test(ends),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
