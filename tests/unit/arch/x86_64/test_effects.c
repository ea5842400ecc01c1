/*
 * test_effects.c: what instructions of x86-64 do to a frame, by their bytes. The
 * decoder is plain C: it is tested on any machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "arch/x86_64/decode.h"

#define R(name) X86_MASK(ARCH_REG_##name)

static uint8_t code[16];

static struct arch_operation decoded(const char *hex)
{
	struct arch_operation op = { .kind = ARCH_OP_END };
	unsigned mode = 0;
	size_t n;

	for (n = 0; hex[2 * n]; n++) {
		const char digits[3] = { hex[2 * n], hex[2 * n + 1], 0 };

		code[n] = (uint8_t)strtoul(digits, NULL, 16);
	}
	arch_decode(code, n, &mode, &op);
	assert_true(op.size == n || op.kind == ARCH_OP_END);
	return op;
}

static void adds(const char *hex, unsigned d, unsigned a, int64_t value)
{
	struct arch_operation op = decoded(hex);

	assert_int_equal(op.kind, ARCH_OP_ADD);
	assert_int_equal(op.d, d);
	assert_int_equal(op.a, a);
	assert_int_equal(op.value, value);
	assert_int_equal(op.mask, 0);
}

static void accesses(const char *hex, unsigned kind, unsigned base,
		     int64_t value, int step, uint64_t mask)
{
	struct arch_operation op = decoded(hex);

	assert_int_equal(op.kind, kind);
	assert_int_equal(op.a, base);
	assert_int_equal(op.value, value);
	assert_int_equal(op.step, step);
	assert_int_equal(op.mask, mask);
}

static void writes(const char *hex, uint64_t mask)
{
	struct arch_operation op = decoded(hex);

	assert_int_equal(op.kind, ARCH_OP_OTHER);
	assert_int_equal(op.mask, mask);
}

static void goes(const char *hex, unsigned kind, intptr_t distance)
{
	struct arch_operation op = decoded(hex);

	assert_int_equal(op.kind, kind);
	assert_int_equal(op.target, (uintptr_t)code + (uintptr_t)distance);
}

static void stack_pointer(void **unused)
{
	(void)unused;
	adds("4883ec18", ARCH_REG_SP, ARCH_REG_SP, -0x18);
	adds("4883c418", ARCH_REG_SP, ARCH_REG_SP, 0x18);
	adds("4881ec00200000", ARCH_REG_SP, ARCH_REG_SP, -0x2000);
	adds("4883ec80", ARCH_REG_SP, ARCH_REG_SP, 0x80);
	adds("488d65d8", ARCH_REG_SP, ARCH_REG_FP, -0x28);
	adds("488d6424f0", ARCH_REG_SP, ARCH_REG_SP, -0x10);
	adds("4c8d542408", ARCH_REG_R10, ARCH_REG_SP, 8);
	adds("498d62f8", ARCH_REG_SP, ARCH_REG_R10, -8);
	adds("4889e5", ARCH_REG_FP, ARCH_REG_SP, 0);
	adds("488be5", ARCH_REG_SP, ARCH_REG_FP, 0);
	adds("4889ec", ARCH_REG_SP, ARCH_REG_FP, 0);
	adds("6a05", ARCH_REG_SP, ARCH_REG_SP, -8);
	adds("6811223344", ARCH_REG_SP, ARCH_REG_SP, -8);
	adds("ff742408", ARCH_REG_SP, ARCH_REG_SP, -8);
	adds("8f0424", ARCH_REG_SP, ARCH_REG_SP, 8);
	adds("9c", ARCH_REG_SP, ARCH_REG_SP, -8);
	adds("0fa1", ARCH_REG_SP, ARCH_REG_SP, 8);
	writes("4883e4e0", R(RSP));	/* and */
	writes("83ec18", R(RSP));	/* of half of it */
	writes("5c", R(RSP));
	writes("6655", R(RSP));		/* two bytes */
	writes("c8100000", R(RSP) | R(RBP));
	assert_int_equal(decoded("c9").kind, ARCH_OP_UNFRAME);
	assert_int_equal(decoded("4829c4").kind, ARCH_OP_DIFFERENCE);
	assert_int_equal(decoded("4801c4").b, ARCH_REG_RAX);
	assert_int_equal(decoded("b800100000").value, 0x1000);
}

static void saved_registers(void **unused)
{
	(void)unused;
	accesses("55", ARCH_OP_STORE, ARCH_REG_SP, -8, -8, R(RBP));
	accesses("4154", ARCH_OP_STORE, ARCH_REG_SP, -8, -8, R(R12));
	accesses("5b", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(RBX));
	accesses("415f", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(R15));
	accesses("48895c2408", ARCH_OP_STORE, ARCH_REG_SP, 8, 0, R(RBX));
	accesses("488b5c2408", ARCH_OP_LOAD, ARCH_REG_SP, 8, 0, R(RBX));
	accesses("4c8b65f8", ARCH_OP_LOAD, ARCH_REG_FP, -8, 0, R(R12));
	accesses("c3", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(RA));
	accesses("f3c3", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(RA));
	accesses("c20800", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(RA));
	accesses("ffe0", ARCH_OP_LOAD, ARCH_REG_SP, 0, 8, R(RA));
	writes("8b5c2408", R(RBX));		/* half of it */
	writes("64488b5c2408", R(RBX));		/* elsewhere */
	writes("488b5cc408", R(RBX));		/* with an index */
	writes("488b1d11223344", R(RBX));	/* by the pc */
}

static void others(void **unused)
{
	(void)unused;
	writes("31db", R(RBX));
	writes("b401", R(RAX));		/* ah, not a part of rsp */
	writes("40b401", R(RSP));	/* spl */
	writes("39dd", 0);		/* cmp */
	writes("3c01", 0);
	writes("85db", 0);
	writes("0fb6dd", R(RBX));
	writes("480f44eb", R(RBP));
	writes("0f93c3", R(RBX));	/* setcc */
	writes("c5f893db", R(RBX));	/* kmov */
	writes("0fa2", R(RAX) | R(RBX) | R(RCX) | R(RDX) | R(R11));
	writes("c4e2e8f3db", R(RBX) | R(RDX) );	/* blsi */
	writes("f30f7edb", 0);		/* movq between vectors */
	writes("66480f7edb", R(RBX));
	writes("c5ec58db", 0);		/* vaddps */
	writes("4887dd", R(RBX) | R(RBP));
	writes("90", 0);
	writes("4893", R(RAX) | R(RBX));
}

/* Shadow stacks use no-ops of older processors. */
static void shadow_stack(void **unused)
{
	(void)unused;
	writes("f30f1ecb", R(RBX));		/* rdsspd */
	writes("f3480f1ecb", R(RBX));		/* rdsspq */
	writes("f3490f1ecc", R(R12));
	writes("66f3480f1ecd", R(RBP));
	writes("f30f1efa", 0);			/* endbr64 */
	writes("f30f1efb", 0);			/* endbr32 */
	writes("f30f1ed3", 0);			/* nop, with each other reg */
	writes("f30f1ec3", 0);
	writes("f30f1e0b", 0);			/* of memory */
	writes("0f1ecb", 0);			/* without F3 */
	writes("660f1ecb", 0);
	writes("f20f1ecb", 0);
	writes("0f18cb", 0);			/* other opcodes of nop */
	writes("f30f1fcb", 0);
	writes("480f38f60b", 0);		/* wrssq %rcx, (%rbx) */
	writes("66480f38f519", 0);		/* wrussq %rbx, (%rcx) */
	writes("480f38f619", 0);
}

/* Map 0F38: what is written is not always the operand reg. */
static void map_0f38(void **unused)
{
	(void)unused;
	writes("0f38f019", R(RBX));		/* movbe (%rcx), %ebx */
	writes("0f38f119", 0);			/* movbe %ebx, (%rcx) */
	writes("66f20f38f1d9", R(RBX));		/* crc32 */
	writes("f20f38f0d9", R(RBX));
	writes("660f38f6d9", R(RBX));		/* adcx */
	writes("f30f38f6d9", R(RBX));		/* adox */
	writes("660f38f819", 0);		/* movdir64b (%rcx), %rbx */
	writes("f20f38f819", 0);		/* enqcmd */
	writes("f20f38f8cb", R(RBX) | R(RCX));	/* urdmsr: either of them */
	writes("0f38f919", 0);			/* movdiri %ebx, (%rcx) */
	writes("0f38fc19", 0);			/* aadd %ebx, (%rcx) */
	writes("f30f38fad9", R(RBX));		/* encodekey128 */
	writes("c4e271e619", R(RBX));		/* cmpbexadd */
	writes("660f38dfdb", 0);		/* aesdeclast */
}

static void elsewhere(void **unused)
{
	(void)unused;
	goes("eb10", ARCH_OP_JUMP, 0x12);
	goes("e9fbffffff", ARCH_OP_JUMP, 0);
	goes("74fe", ARCH_OP_BRANCH, 0);
	goes("0f8400010000", ARCH_OP_BRANCH, 0x106);
	goes("e310", ARCH_OP_BRANCH, 0x12);
	assert_int_equal(decoded("e800000000").kind, ARCH_OP_CALL);
	assert_int_equal(decoded("ff5008").kind, ARCH_OP_CALL);
	assert_int_equal(decoded("41ffd4").kind, ARCH_OP_CALL);
	assert_int_equal(decoded("0f0b").kind, ARCH_OP_END);
	assert_int_equal(decoded("cc").kind, ARCH_OP_END);
	assert_int_equal(decoded("f4").kind, ARCH_OP_END);
	assert_int_equal(decoded("06").kind, ARCH_OP_END);
	assert_int_equal(decoded("06").size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_pointer),
		cmocka_unit_test(saved_registers),
		cmocka_unit_test(others),
		cmocka_unit_test(shadow_stack),
		cmocka_unit_test(map_0f38),
		cmocka_unit_test(elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
