/*
 * test_rules_step.c: every rule for a register and every form of the CFA that
 * the standard has, each as one step outward, over hand-assembled tables. The
 * numbers are those of x86-64.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"

enum { WORDS = 64, SP_AT = 16, FP_AT = 32, R10_AT = 40, RBX = 3 };

/* A word of the stack says where it is; so does a register that was kept. */
#define WORD(n) (UINT64_C(0xcafe0000) + (uint64_t)(n))
#define KEPT(n) (UINT64_C(0x1000) + (uint64_t)(n))
#define ADDRESS(n) ((uint64_t)(uintptr_t)&stack[n])

static uint64_t stack[WORDS];
static struct arch_regs regs;
static struct builder b;

static bool read_stack(void *ctx, uintptr_t address, uint64_t *value)
{
	uintptr_t base = (uintptr_t)stack;

	(void)ctx;
	if (address < base || address > base + sizeof(stack) - 8)
		return false;
	memcpy(value, (const void *)address, 8);
	return true;
}

/* One step from an FDE with this program, `offset` bytes into it. */
static int step(size_t cie, const uint8_t *program, size_t size,
		uint64_t offset)
{
	struct rules_sections sections;
	struct rules_image *image;
	bool is_signal = true;
	unsigned int i;
	int status;

	begin_fde(&b, cie, CODE, 256);
	put(&b, program, size);
	end_record(&b);
	sections = builder_sections(&b);
	image = rules_image_new(&sections);
	assert_non_null(image);
	for (i = 0; i < WORDS; i++)
		stack[i] = WORD(i);
	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs.r[i] = KEPT(i);
	regs.r[ARCH_REG_PC] = CODE + offset;
	regs.r[ARCH_REG_SP] = ADDRESS(SP_AT);
	regs.r[ARCH_REG_FP] = ADDRESS(FP_AT);
	regs.r[10] = ADDRESS(R10_AT);
	status = rules_step_full(image, &regs, true, &is_signal, read_stack,
				 NULL);
	assert_false(status == 0 && is_signal);
	return status;
}

static void start(void)
{
	unwind_alloc = builder_alloc;
	assert_int_equal(rules_init(), 0);
	b.size = 0;
}

/* STEP(offset, program...): with what compilers begin with, so that CFA is
 * ADDRESS(17) and pc WORD(16) unless the program says otherwise. */
#define STEP(offset, ...)                                                   \
	({                                                                  \
		static const uint8_t code_[] = { __VA_ARGS__ };             \
									    \
		start();                                                    \
		step(put_cie(&b, "zR", ENC_ABS8), code_, sizeof(code_),     \
		     offset);                                               \
	})

#define LEADS_TO(pc, sp_word, rbx, offset, ...)                             \
	do {                                                                \
		assert_int_equal(STEP(offset, __VA_ARGS__), 0);             \
		assert_int_equal(regs.r[ARCH_REG_PC], pc);                  \
		assert_int_equal(regs.r[ARCH_REG_SP], ADDRESS(sp_word));    \
		assert_int_equal(regs.r[RBX], rbx);                         \
		assert_int_equal(regs.r[12], KEPT(12));                     \
	} while (0)

#define RBX_IS(rbx, ...) LEADS_TO(WORD(16), 17, rbx, 0, __VA_ARGS__)
#define CFA_IS(word, ...) LEADS_TO(WORD((word) - 1), word, KEPT(3), 0,      \
				   __VA_ARGS__)

static void test_register_rules(void **unused)
{
	(void)unused;
	RBX_IS(KEPT(3), 0x00);				/* nothing said */
	RBX_IS(KEPT(3), 0x07, 3);			/* undefined */
	RBX_IS(KEPT(3), 0x08, 3);			/* same value */
	RBX_IS(WORD(15), 0x83, 2);			/* offset */
	RBX_IS(WORD(15), 0x05, 3, 2);
	RBX_IS(WORD(19), 0x11, 3, 0x7e);
	RBX_IS(WORD(19), 0x2f, 3, 2);			/* GNU, negative */
	RBX_IS(ADDRESS(15), 0x14, 3, 2);		/* val_offset */
	RBX_IS(ADDRESS(19), 0x15, 3, 0x7e);
	RBX_IS(KEPT(14), 0x09, 3, 14);			/* register */
	RBX_IS(ADDRESS(SP_AT), 0x09, 3, 7);		/* this frame's sp */
	RBX_IS(WORD(19), 0x10, 3, 2, 0x23, 16);		/* expression */
	RBX_IS(WORD(18), 0x10, 3, 3, 0x13, 0x77, 16);	/* without the CFA */
	RBX_IS(ADDRESS(19), 0x16, 3, 2, 0x23, 16);	/* val_expression */
	RBX_IS(WORD(21), 0x16, 3, 3, 0x23, 32, 0x06);
	RBX_IS(KEPT(3), 0x83, 2, 0xc3);			/* restore */
	RBX_IS(KEPT(3), 0x83, 2, 0x06, 3);
	RBX_IS(WORD(15), 0x2e, 0x40, 0x83, 2);		/* GNU_args_size */
	/* Columns that nobody follows. */
	RBX_IS(WORD(15), 0x91, 3, 0x83, 2, 0x05, 0xc8, 1, 9, 0x09, 0x80, 1,
	       0x81, 1, 0xd1, 0x06, 0xc8, 1);
}

static void test_cfa_forms(void **unused)
{
	(void)unused;
	CFA_IS(18, 0x0c, 7, 16);			/* def_cfa */
	CFA_IS(34, 0x0c, 6, 16);
	CFA_IS(41, 0x0c, 10, 8);
	CFA_IS(18, 0x12, 7, 0x7e);			/* factored */
	CFA_IS(33, 0x0d, 6);				/* register alone */
	CFA_IS(19, 0x0e, 24);				/* offset alone */
	CFA_IS(18, 0x13, 0x7e);
	CFA_IS(18, 0x0f, 2, 0x77, 16);			/* expression */
	CFA_IS(34, 0x0f, 4, 0x76, 8, 0x38, 0x22);
	CFA_IS(18, 0x0f, 2, 0x77, 16, 0x0e, 24);	/* it still holds */
	CFA_IS(34, 0x0f, 2, 0x77, 16, 0x0c, 6, 16);	/* no more */
	/* A CFA that lies inward of sp, as after a stack switch. */
	CFA_IS(15, 0x0c, 7, 0x78, 0x0f, 2, 0x77, 0x78);
}

/* Which state is back when: CFA and registers, two deep. */
static void test_states(void **unused)
{
	(void)unused;
	LEADS_TO(WORD(18), 19, WORD(16), 0, 0x0a, 0x83, 2, 0x0e, 16, 0x0a,
		 0x83, 3, 0x0e, 24);
	LEADS_TO(WORD(17), 18, WORD(16), 0, 0x0a, 0x83, 2, 0x0e, 16, 0x0a,
		 0x83, 3, 0x0e, 24, 0x0b);
	LEADS_TO(WORD(16), 17, KEPT(3), 0, 0x0a, 0x83, 2, 0x0e, 16, 0x0a,
		 0x83, 3, 0x0e, 24, 0x0b, 0x0b);
	assert_int_equal(STEP(0, 0x0b), -EINVAL);
	assert_int_equal(STEP(0, 0x0a, 0x0b, 0x0b), -EINVAL);
}

/* At the last byte before, and the first after each way to advance. */
#define ADVANCES(by, ...)                                                   \
	do {                                                                \
		LEADS_TO(WORD(16), 17, KEPT(3), (by) - 1, __VA_ARGS__,      \
			 0x83, 2);                                          \
		LEADS_TO(WORD(16), 17, WORD(15), by, __VA_ARGS__, 0x83, 2); \
		LEADS_TO(WORD(16), 17, WORD(15), 255, __VA_ARGS__, 0x83,    \
			 2);                                                \
	} while (0)

static void test_locations(void **unused)
{
	(void)unused;
	ADVANCES(5, 0x45);
	ADVANCES(200, 0x02, 200);
	ADVANCES(200, 0x03, 200, 0);
	ADVANCES(200, 0x04, 200, 0, 0, 0);
	ADVANCES(200, 0x1d, 200, 0, 0, 0, 0, 0, 0, 0);	/* MIPS, 8 bytes */
	ADVANCES(7, 0x01, 7, 0, 0, 0, 0, 0x50, 0, 0);	/* set_loc */
	ADVANCES(6, 0x42, 0x40, 0x44);
}

static void test_return_address(void **unused)
{
	(void)unused;
	LEADS_TO(WORD(14), 17, KEPT(3), 0, 0x90, 3);
	LEADS_TO(KEPT(14), 17, KEPT(3), 0, 0x09, 16, 14);
	LEADS_TO(ADDRESS(15), 17, KEPT(3), 0, 0x14, 16, 2);
	LEADS_TO(WORD(20), 17, KEPT(3), 0, 0x10, 16, 2, 0x23, 24);
	LEADS_TO(ADDRESS(20), 17, KEPT(3), 0, 0x16, 16, 2, 0x23, 24);
	assert_int_equal(STEP(0, 0x07, 16), 1);		/* outermost */
	assert_int_equal(STEP(0, 0x08, 16), -EINVAL);	/* calls itself */
}

/* Where another register holds the return address from the start. */
static void test_other_return_column(void **unused)
{
	static const uint8_t at_cfa[] = { 0x83, 1 }, kept[] = { 0x00 };
	static const uint8_t encoding = ENC_ABS8;
	size_t cie, round;

	(void)unused;
	for (round = 0; round < 2; round++) {
		start();
		cie = begin_cie(&b, "zR", &encoding, 1);
		PROGRAM(&b, 0x0c, 7, 8);
		end_record(&b);
		b.bytes[cie + 14] = RBX;	/* behind "zR", 1, -8 */
		assert_int_equal(step(cie, round ? kept : at_cfa,
				      round ? sizeof(kept) : sizeof(at_cfa),
				      0), 0);
		assert_int_equal(regs.r[ARCH_REG_PC],
				 round ? KEPT(3) : WORD(16));
	}
}

/* What is no rule: what vendors reserved for themselves, and what is cut. */
static void test_no_rules(void **unused)
{
	static const uint8_t none[] = {
		0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1e, 0x1f, 0x20, 0x21,
		0x2c, 0x2d, 0x30, 0x3f
	};
	unsigned int i;

	(void)unused;
	for (i = 0; i < sizeof(none); i++) {
		start();
		assert_int_equal(step(put_cie(&b, "zR", ENC_ABS8), &none[i],
				      1, 0), -EINVAL);
	}
	assert_int_equal(STEP(0, 0x10, 3, 9, 0x23, 16), -EINVAL);
	assert_int_equal(STEP(0, 0x0c, 17, 8), -EINVAL);
	assert_int_equal(STEP(0, 0x16, 3, 1, 0x06), 0);
	assert_int_equal(STEP(0, 0x16, 16, 2, 0x30, 0x06), -EFAULT);
	assert_int_equal(STEP(0, 0x0c, 7, 0xff, 0xff, 3), -EFAULT);
}

/* One step from a frame whose return address is in register 14, as with a link
 * register, where its caller left it; the CFA is sp + offset. */
static int step_kept(uint8_t offset, bool pc_exact)
{
	const uint8_t program[] = { 0x0c, ARCH_REG_SP, offset };
	struct rules_sections sections;
	struct rules_image *image;
	bool is_signal;
	size_t cie;

	start();
	begin_record(&b);
	cie = b.record;
	put_u32(&b, 0);
	put(&b, "\1zR\0\1\x78\x0e\1\x04", 9);
	end_record(&b);
	begin_fde(&b, cie, CODE, 256);
	put(&b, program, sizeof(program));
	end_record(&b);
	sections = builder_sections(&b);
	image = rules_image_new(&sections);
	assert_non_null(image);
	regs.r[ARCH_REG_PC] = CODE + 16;
	regs.r[ARCH_REG_SP] = ADDRESS(SP_AT);
	regs.r[14] = KEPT(14);
	return rules_step_full(image, &regs, pc_exact, &is_signal, read_stack,
			       NULL);
}

/* It holds before the frame's first call, not in a call of it. */
static void test_kept_return_address(void **unused)
{
	(void)unused;
	assert_int_equal(step_kept(16, true), 0);
	assert_int_equal(regs.r[ARCH_REG_PC], KEPT(14));
	assert_int_equal(step_kept(0, true), 0);
	assert_int_equal(step_kept(16, false), -EINVAL);
	/* a stub has no frame */
	assert_int_equal(step_kept(0, false), 0);
	assert_int_equal(regs.r[ARCH_REG_PC], KEPT(14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register_rules),
		cmocka_unit_test(test_cfa_forms),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_return_address),
		cmocka_unit_test(test_other_return_column),
		cmocka_unit_test(test_no_rules),
		cmocka_unit_test(test_kept_return_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
