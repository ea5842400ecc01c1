/*
 * test_cfa_program.c: the interpreter of call frame instructions: each of
 * them, and what must fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/cfa_program.h"

enum { ROWS_MAX = 64, START = 0x1000, SIZE = 0x100, END = START + SIZE };

struct emitted {
	bool bad;
	uintptr_t start, end;
	struct cfa_row row;
};

static struct emitted rows[ROWS_MAX];
static unsigned int row_count, stop_after;

static bool emit(void *ctx, const struct cfa_row *row, uintptr_t start,
		 uintptr_t end)
{
	struct emitted *e = &rows[row_count++];

	(void)ctx;
	assert_true(row_count < ROWS_MAX);
	assert_true(start < end);
	e->bad = row == NULL;
	e->start = start;
	e->end = end;
	if (row)
		e->row = *row;
	return row_count == stop_after;
}

static const uint8_t usual[] = { 0x0c, 7, 8, 0x90, 1 };

static struct cfi_fde make_fde(const uint8_t *program, size_t size)
{
	return (struct cfi_fde){
		.cie = {
			.code_align = 1,
			.data_align = -8,
			.program = (uintptr_t)usual,
			.program_end = (uintptr_t)usual + sizeof(usual),
			.ra_column = ARCH_REG_PC,
			.pointer_encoding = ENC_ABS8,
		},
		.start = START,
		.end = END,
		.program = (uintptr_t)program,
		.program_end = (uintptr_t)program + size,
	};
}

static void run_fde(const struct cfi_fde *fde)
{
	unsigned int i;

	row_count = 0;
	cfa_program_run(fde, emit, NULL);
	assert_true(row_count > 0);
	if (stop_after)
		return;
	assert_int_equal(rows[0].start, fde->start);
	for (i = 1; i < row_count; i++)
		assert_int_equal(rows[i].start, rows[i - 1].end);
	assert_int_equal(rows[row_count - 1].end, fde->end);
}

#define RUN(...)                                                            \
	do {                                                                \
		static const uint8_t code_[] = { __VA_ARGS__ };             \
		const struct cfi_fde fde_ = make_fde(code_, sizeof(code_)); \
		run_fde(&fde_);                                             \
	} while (0)

static void cfa_is(unsigned int i, unsigned int reg, int64_t offset)
{
	assert_true(i < row_count);
	assert_false(rows[i].bad);
	assert_int_equal(rows[i].row.cfa_how, CFA_OFFSET);
	assert_int_equal(rows[i].row.cfa_reg, reg);
	assert_int_equal(rows[i].row.cfa_offset, offset);
}

static void rule_is(unsigned int i, unsigned int reg, enum cfa_how how,
		    int64_t value)
{
	assert_true(i < row_count);
	assert_false(rows[i].bad);
	assert_int_equal(rows[i].row.how[reg], how);
	assert_int_equal(rows[i].row.value[reg], value);
}

static void expression_is(int64_t value, const char *bytes, size_t size)
{
	size_t got;
	const uint8_t *code = cfa_program_expression(value, &got);

	assert_int_equal(got, size);
	assert_memory_equal(code, bytes, size);
}

static void test_initial(void **unused)
{
	struct cfi_fde fde = make_fde(NULL, 0);

	(void)unused;
	run_fde(&fde);
	assert_int_equal(row_count, 1);
	cfa_is(0, 7, 8);
	rule_is(0, 16, CFA_OFFSET, -8);
	rule_is(0, 6, CFA_UNSPECIFIED, 0);
}

static void test_locations(void **unused)
{
	(void)unused;
	RUN(0x44, 0x0e, 16, 0x02, 0x10, 0x0e, 24, 0x03, 0x20, 0, 0x0e, 32,
	    0x04, 8, 0, 0, 0, 0x0e, 40, 0x1d, 4, 0, 0, 0, 0, 0, 0, 0, 0x0e,
	    48, 0x01, 0x50, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 56);
	assert_int_equal(row_count, 7);
	assert_int_equal(rows[1].start, START + 4);
	assert_int_equal(rows[2].start, START + 0x14);
	assert_int_equal(rows[3].start, START + 0x34);
	assert_int_equal(rows[4].start, START + 0x3c);
	assert_int_equal(rows[5].start, START + 0x40);
	assert_int_equal(rows[6].start, START + 0x50);
	cfa_is(0, 7, 8);
	cfa_is(6, 7, 56);
}

static void test_no_move_no_row(void **unused)
{
	(void)unused;
	RUN(0x40, 0x0e, 16, 0x40, 0x0e, 24, 0x41);
	assert_int_equal(row_count, 2);
	cfa_is(0, 7, 24);
}

static void test_code_alignment(void **unused)
{
	static const uint8_t code[] = { 0x44, 0x0e, 16 };
	struct cfi_fde fde = make_fde(code, sizeof(code));

	(void)unused;
	fde.cie.code_align = 4;
	run_fde(&fde);
	assert_int_equal(rows[1].start, START + 16);
	/* Beyond the end, however far: the row ends with the FDE. */
	fde.cie.code_align = UINT64_MAX;
	run_fde(&fde);
	assert_int_equal(row_count, 1);
	cfa_is(0, 7, 8);
	fde.cie.code_align = (UINT64_MAX - START / 2) / 4;
	run_fde(&fde);
	assert_int_equal(row_count, 1);
	cfa_is(0, 7, 8);
}

static void test_rows_end_with_fde(void **unused)
{
	(void)unused;
	RUN(0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 16, 0x41, 0x3f);
	assert_int_equal(row_count, 1);
	cfa_is(0, 7, 8);
}

static void test_cfa(void **unused)
{
	(void)unused;
	RUN(0x0c, 6, 0x80, 1, 0x41, 0x0d, 3, 0x41, 0x0e, 24, 0x41, 0x12, 5,
	    0x7e, 0x41, 0x13, 0x7d, 0x41, 0x0f, 2, 0x77, 8);
	cfa_is(0, 6, 128);
	cfa_is(1, 3, 128);
	cfa_is(2, 3, 24);
	cfa_is(3, 5, 16);
	cfa_is(4, 5, 24);
	assert_int_equal(rows[5].row.cfa_how, CFA_EXPRESSION);
	expression_is(rows[5].row.cfa_expression, "\x77\x08", 2);
}

/* As hand-written code has it: the offset outlives an expression. */
static void test_cfa_after_expression(void **unused)
{
	(void)unused;
	RUN(0x0e, 56, 0x41, 0x0f, 1, 0x30, 0x41, 0x0d, 3, 0x41, 0x0f, 1, 0x31,
	    0x0e, 64, 0x41, 0x0d, 7);
	assert_int_equal(rows[1].row.cfa_how, CFA_EXPRESSION);
	cfa_is(2, 3, 56);
	assert_int_equal(rows[3].row.cfa_how, CFA_EXPRESSION);
	expression_is(rows[3].row.cfa_expression, "\x31", 1);
	cfa_is(4, 7, 64);
}

static void test_rules(void **unused)
{
	(void)unused;
	RUN(0x86, 2, 0x05, 3, 0x83, 1, 0x11, 12, 0x7e, 0x14, 13, 2, 0x15, 14,
	    0x7e, 0x07, 15, 0x08, 0, 0x09, 1, 2, 0x10, 2, 1, 0x30, 0x16, 4, 2,
	    0x77, 0, 0x2f, 5, 3, 0x2e, 64);
	rule_is(0, 6, CFA_OFFSET, -16);
	rule_is(0, 3, CFA_OFFSET, -131 * 8);
	rule_is(0, 12, CFA_OFFSET, 16);
	rule_is(0, 13, CFA_VAL_OFFSET, -16);
	rule_is(0, 14, CFA_VAL_OFFSET, 16);
	rule_is(0, 5, CFA_OFFSET, 24);
	assert_int_equal(rows[0].row.how[15], CFA_UNDEFINED);
	assert_int_equal(rows[0].row.how[0], CFA_SAME);
	rule_is(0, 1, CFA_REGISTER, 2);
	assert_int_equal(rows[0].row.how[2], CFA_EXPRESSION);
	expression_is(rows[0].row.value[2], "\x30", 1);
	assert_int_equal(rows[0].row.how[4], CFA_VAL_EXPRESSION);
	expression_is(rows[0].row.value[4], "\x77\0", 2);
	cfa_is(0, 7, 8);
}

static void test_restore(void **unused)
{
	(void)unused;
	RUN(0x86, 2, 0x90, 5, 0x41, 0xc6, 0xd0, 0x41, 0x86, 3, 0x41, 0x06, 6);
	rule_is(0, 6, CFA_OFFSET, -16);
	rule_is(0, 16, CFA_OFFSET, -40);
	rule_is(1, 6, CFA_UNSPECIFIED, 0);
	rule_is(1, 16, CFA_OFFSET, -8);
	rule_is(2, 6, CFA_OFFSET, -24);
	rule_is(3, 6, CFA_UNSPECIFIED, 0);
}

static void test_states(void **unused)
{
	(void)unused;
	RUN(0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0c, 6, 32, 0x0a, 0xc6, 0x41, 0x0b,
	    0x41, 0x0b);
	cfa_is(0, 7, 16);
	cfa_is(1, 6, 32);
	rule_is(1, 6, CFA_UNSPECIFIED, 0);
	cfa_is(2, 6, 32);
	rule_is(2, 6, CFA_OFFSET, -16);
	cfa_is(3, 7, 16);
}

/* Columns of vector registers are not followed, nor are they an error. */
static void test_other_columns(void **unused)
{
	(void)unused;
	RUN(0x05, 17, 4, 0x07, 40, 0x08, 0x80, 0x01, 0x06, 33, 0x09, 3, 17,
	    0xa0, 4, 0xe0);
	cfa_is(0, 7, 8);
	rule_is(0, 3, CFA_REGISTER, 17);
}

static void bad_from(unsigned int i)
{
	assert_int_equal(row_count, i + 1);
	assert_true(rows[i].bad);
}

static void test_nonsense(void **unused)
{
	(void)unused;
	RUN(0x17);
	bad_from(0);
	RUN(0x41, 0x3f);
	bad_from(1);
	RUN(0x41, 0x0b);	/* nothing remembered */
	bad_from(1);
	RUN(0x41, 0x0c, 17, 8);	/* CFA by an unknown register */
	bad_from(1);
	RUN(0x41, 0x0d, 17);
	bad_from(1);
	RUN(0x41, 0x01, 0, 0x10, 0, 0, 0, 0, 0, 0);	/* backwards */
	bad_from(1);
	RUN(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x41, 0x0a);
	bad_from(1);
	/* A factor that does not fit. */
	RUN(0x05, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
	bad_from(0);
}

static void test_cut_short(void **unused)
{
	static const uint8_t whole[] = {
		0x41, 0x05, 3, 0x83, 1, 0x03, 4, 0, 0x10, 2, 1, 0x30, 0x0f, 2,
		0x77, 8, 0x01, 0x50, 0x10, 0, 0, 0, 0, 0, 0, 0x2e, 0x80, 1
	};
	size_t size;

	(void)unused;
	for (size = 0; size <= sizeof(whole); size++) {
		struct builder b = { .size = 0 };
		struct cfi_fde fde;

		put(&b, whole, size);
		fde = make_fde(builder_seal(&b), size);
		run_fde(&fde);
	}
	assert_false(rows[row_count - 1].bad);
}

/* Neither locations nor restored rules have a place in a CIE. */
static void test_cie_programs(void **unused)
{
	static const uint8_t move[] = { 0x0c, 7, 8, 0x41 };
	static const uint8_t restore[] = { 0x0c, 7, 8, 0xc6 };
	static const uint8_t half[] = { 0x0d, 7, 0x0e, 8 };
	struct cfi_fde fde = make_fde(NULL, 0);

	(void)unused;
	/* A register alone has the offset 0, an offset alone no register. */
	fde.cie.program = (uintptr_t)half;
	fde.cie.program_end = (uintptr_t)half + 2;
	run_fde(&fde);
	cfa_is(0, 7, 0);
	fde.cie.program_end = (uintptr_t)half + sizeof(half);
	run_fde(&fde);
	cfa_is(0, 7, 8);
	fde.cie.program = (uintptr_t)half + 2;
	run_fde(&fde);
	bad_from(0);
	fde.cie.program = (uintptr_t)move;
	fde.cie.program_end = (uintptr_t)move + sizeof(move);
	run_fde(&fde);
	bad_from(0);
	fde.cie.program = (uintptr_t)restore;
	fde.cie.program_end = (uintptr_t)restore + sizeof(restore);
	run_fde(&fde);
	bad_from(0);
}

static void test_stop(void **unused)
{
	(void)unused;
	stop_after = 2;
	RUN(0x41, 0x0e, 16, 0x41, 0x0e, 24, 0x41, 0x0e, 32);
	stop_after = 0;
	assert_int_equal(row_count, 2);
}

/* An FDE of a megabyte and more is refused as a whole. */
static void test_long_program(void **unused)
{
	static uint8_t nops[(1 << 20) + 1];
	struct cfi_fde fde = make_fde(nops, sizeof(nops) - 1);

	(void)unused;
	run_fde(&fde);
	cfa_is(0, 7, 8);
	fde.program_end++;
	run_fde(&fde);
	bad_from(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_no_move_no_row),
		cmocka_unit_test(test_code_alignment),
		cmocka_unit_test(test_rows_end_with_fde),
		cmocka_unit_test(test_cfa),
		cmocka_unit_test(test_cfa_after_expression),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_other_columns),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_cie_programs),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_long_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
