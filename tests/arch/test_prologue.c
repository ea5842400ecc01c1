/*
 * test_prologue.c: what the code tells about frames, against what tables say, at
 * each call of libraries that have both. Where a port's instructions are not
 * followed (ARCH_DECODES) nothing is ever found.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/image/image.h"
#include "unwind/rules/prologue.h"
#include "unwind/rules/rules_exidx.h"
#include "decode.h"

#define CALLS_LEAST 1000
/* In a hundred. Where code is followed onward only, what is behind calls that
 * never return is not known; and where such a call is not the last one, as where
 * exceptions are passed on, another function's end may be met. Code that throws
 * has tables always. */
#define UNKNOWN_MOST (ARCH_DECODES_BACK ? 3 : 23)
#define DIFFERENT_MOST (ARCH_DECODES_BACK ? 0 : 2)	/* in C++ */
/* Likewise, where a signal came; and of ten thousand, what differs: where an
 * instruction runs before the branch before it, that is not seen from there. */
#define UNKNOWN_MOST_INSIDE 15
#define DIFFERENT_MOST_INSIDE 1

struct tally {
	unsigned calls, unknown, same, different;
	unsigned guesses;	/* of these two: told one way only */
};

/* Where a frame ends and returns by, as words that can be compared. If both
 * count as much, one from sp and one from fp, the two are the same there; and so
 * they may be if fp is where it was saved, and both say that. */
static bool is_same(struct rule a, struct rule b)
{
	bool beside = a.base == RULE_BASE_FP && b.base == RULE_BASE_SP &&
		      a.cfa_off == -a.fp_off * ARCH_WORD;

	if (a.kind == RULE_DEREF || b.kind == RULE_CODE_DEREF)
		return a.kind == RULE_DEREF && b.kind == RULE_CODE_DEREF &&
		       a.cfa_off == b.cfa_off && a.fp_off == b.fp_off;
	return (a.cfa_off == b.cfa_off || beside) && a.fp_off == b.fp_off &&
	       arch_rule_ra_offset(a.fp_off, a.ra) ==
		       arch_rule_ra_offset(b.fp_off, b.ra);
}

static void compare(struct rules_image *image, uintptr_t ra, struct tally *t)
{
	uint16_t table = rules_find(image, ra - 1), code;

	if (!table || !arch_after_call(ra) ||
	    (rules_dictionary[table].kind != RULE_FRAME &&
	     rules_dictionary[table].kind != RULE_DEREF))
		return;
	t->calls++;
	code = prologue_find(image, ra);
	t->guesses += rules_dictionary[code].kind == RULE_CODE;
	if (!code)
		t->unknown++;
	else if (is_same(rules_dictionary[table], rules_dictionary[code]))
		t->same++;
	else
		t->different++;
}

/* The calls in code that lies in a row, of which each instruction is decoded:
 * where they are of several sizes, much looks like a call that is none. */
static void calls_in(struct rules_image *image, uintptr_t at, uintptr_t end,
		     struct tally *t)
{
#if ARCH_DECODES
	unsigned mode = arch_code_mode(at, true);
	struct arch_operation op;

	for (; at < end; at += op.size ? op.size : ARCH_INSTRUCTION) {
		op = (struct arch_operation){ .kind = ARCH_OP_END };
		arch_decode((const void *)at, end - at, &mode, &op);
		if (op.kind == ARCH_OP_CALL)
			compare(image, at + op.size +
				       (op.delayed ? ARCH_INSTRUCTION : 0), t);
	}
#else
	for (at += ARCH_CALL_MAX; at < end; at += ARCH_INSTRUCTION)
		compare(image, at, t);
#endif
}

static struct rules_image *rules_at(uintptr_t pc)
{
	const struct image *image = image_find(pc);
	struct rules_image *rules;

	assert_non_null(image);
	rules = image_rules(image);
	assert_non_null(rules);
	return rules;
}

static struct tally all_calls(const char *library, const char *symbol)
{
	void *handle = dlopen(library, RTLD_NOW);
	struct tally t = { 0 };
	struct rules_image *rules;
	uintptr_t at, end;

	assert_non_null(handle);
	rules = rules_at((uintptr_t)dlsym(handle, symbol));
	for (at = rules->text_start; at < rules->text_end; at = end) {
		uintptr_t start = at;

		end = rules->text_end;
		rules_exidx_code(rules, at, &start, &end);
		calls_in(rules, at, end, &t);
	}
	print_message("%s: %u calls, %u unknown, %u same, %u different, %u one way\n",
		      library, t.calls, t.unknown, t.same, t.different, t.guesses);
	return t;
}

static void against_tables(void **unused)
{
	struct tally c, cxx;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	c = all_calls("libc.so.6", "malloc");
	cxx = all_calls("libstdc++.so.6", "__cxa_throw");
	assert_true(c.calls > CALLS_LEAST && cxx.calls > CALLS_LEAST);
	assert_int_equal(c.different, 0);
	assert_true(100 * cxx.different <= DIFFERENT_MOST * cxx.calls);
	if (ARCH_DECODES)
		assert_true(100 * (c.unknown + cxx.unknown) <
			    UNKNOWN_MOST * (c.calls + cxx.calls));
	else
		assert_int_equal(c.same + cxx.same, 0);
	/* What one way alone says is known as such. */
	assert_true(!ARCH_DECODES || c.guesses > 0);
	assert_int_equal(ARCH_DECODES_BACK, 2 * c.guesses < c.same);
}

/* ---- stacks that functions align ---- */

#define ALIGNS (ARCH_DECODES && !ARCH_LINK_REGISTER)
#if ALIGNS

#define NEAR_BYTES 200
#ifdef __clang__		/* takes another register for what it aligns */
#define FRAMES_ARE_LIKE_OTHERS true
#else
#define FRAMES_ARE_LIKE_OTHERS false
#endif
#define SHAPE __attribute__((noinline, noclone))

static __attribute__((noinline)) void see(void *a, void *b)
{
	__asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

static SHAPE int grows(int n)
{
	_Alignas(64) char room[64];
	char *more = alloca((size_t)n);

	see(room, more);
	see(more, room);
	return room[n];
}

static SHAPE int saves(int a, int b, int c, int d, int e)
{
	_Alignas(32) char room[64];
	char *more = alloca((size_t)a);
	int f = a * b, g = b ^ c, h = c - d;

	see(room, more);
	if (a > b) {
		see(more, room);
		return a + g;
	}
	see(room, room);
	return a + b + c + d + e + f + g + h + room[a];
}

/* The calls near a function's begin. */
static unsigned from_words(uintptr_t at)
{
	uintptr_t end = at + NEAR_BYTES;
	struct rules_image *rules = rules_at(at);
	unsigned mode = arch_code_mode(at, true), found = 0;
	struct arch_operation op;

	for (; at < end; at += op.size ? op.size : 1) {
		uint16_t table, code;

		op = (struct arch_operation){ .kind = ARCH_OP_END };
		arch_decode((const void *)at, end - at, &mode, &op);
		table = rules_find(rules, at);
		if (op.kind != ARCH_OP_CALL ||
		    rules_dictionary[table].kind != RULE_DEREF)
			continue;
		code = prologue_find(rules, at + op.size);
		assert_true(is_same(rules_dictionary[table],
				    rules_dictionary[code]));
		found++;
	}
	return found;
}

/* The CFA is a word of the frame, as the table says it. */
static void stacks_that_are_aligned(void **unused)
{
	unsigned found = from_words((uintptr_t)grows) +
			 from_words((uintptr_t)saves);

	(void)unused;
	grows(3);
	saves(1, 2, 3, 4, 5);
	print_message("%u calls from stacks that are aligned\n", found);
	assert_true(found >= 4 || FRAMES_ARE_LIKE_OTHERS);
}

/* A word of its own everywhere, further out than all registers. */
static bool read_outward(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	*value = UINT64_C(0x7f8000000000) +
		 (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) * ARCH_WORD;
	return true;
}

/* Where a signal came at pc. False: the code does not tell. Compilers leave a
 * rule for the frame pointer behind its end. */
static bool is_told(struct rules_image *rules, uintptr_t pc)
{
	struct arch_regs from, table, code;
	bool is_signal = false;
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		from.r[r] = UINT64_C(0x7f0000000000) + r * UINT64_C(0x100000);
	from.r[ARCH_REG_PC] = pc;
	table = code = from;
	assert_int_equal(rules_step_full(rules, &table, true, &is_signal,
					 read_outward, NULL), 0);
	if (prologue_step(rules, &code, true, read_outward, NULL,
			  &(bool){ false }))
		return false;
	assert_int_equal(code.r[ARCH_REG_SP], table.r[ARCH_REG_SP]);
	assert_int_equal(code.r[ARCH_REG_PC], table.r[ARCH_REG_PC]);
	if (code.r[ARCH_REG_FP] != from.r[ARCH_REG_FP])
		assert_int_equal(code.r[ARCH_REG_FP], table.r[ARCH_REG_FP]);
	return true;
}

static void stacks_that_are_aligned_where_signals_come(void **unused)
{
	uintptr_t at = (uintptr_t)grows, end = at + NEAR_BYTES;
	struct rules_image *rules = rules_at(at);
	unsigned mode = arch_code_mode(at, true), told = 0;
	struct arch_operation op = { .kind = ARCH_OP_OTHER };

	(void)unused;
	while (at < end && !(op.mask >> ARCH_REG_PC & 1)) {
		told += is_told(rules, at);
		op = (struct arch_operation){ .kind = ARCH_OP_END };
		arch_decode((const void *)at, end - at, &mode, &op);
		assert_true(op.size > 0);
		at += op.size;
	}
	print_message("%u instructions of %lu bytes\n", told,
		      (unsigned long)(at - (uintptr_t)grows));
	assert_true(told > 10);
}

#endif

/* Where calls push, or tables are true of calls only, there is nothing to
 * compare. */
#define HAS_ROWS_EVERYWHERE                                                  \
	(ARCH_DECODES && ARCH_LINK_REGISTER && !ARCH_ELF_EXIDX)
#if HAS_ROWS_EVERYWHERE

/* ---- where a signal came ---- */

#define NEAR 0x80000		/* bytes, between a register and a CFA */

/* A value of its own in each register and each word. */
static uint64_t start_value(unsigned reg)
{
	return UINT64_C(0x7f0000000000) + reg * UINT64_C(0x100000);
}

static bool read_any(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	*value = address * UINT64_C(0x9e3779b97f4a7c15) >> 20;
	return true;
}

/* Where one counts from sp and one from fp, nothing says that they differ. What
 * one takes from its register and the other from the stack is in both places while
 * a frame is made or left. */
static bool is_same_step(const struct arch_regs *from, struct arch_regs *table,
			 struct arch_regs *code)
{
	uint64_t fp = from->r[ARCH_REG_FP];
	bool table_by_fp = table->r[ARCH_REG_SP] - fp + NEAR < 2 * NEAR;
	bool code_by_fp = code->r[ARCH_REG_SP] - fp + NEAR < 2 * NEAR;
	unsigned r;

	if (table_by_fp != code_by_fp)
		return true;
	if (table->r[ARCH_REG_SP] != code->r[ARCH_REG_SP])
		return false;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		unsigned kept = r == ARCH_REG_PC ? ARCH_REG_LR : r;

		if ((r == ARCH_REG_PC ||
		     (r < 32 && ARCH_CALLEE_SAVED >> r & 1)) &&
		    table->r[r] != code->r[r] &&
		    table->r[r] != from->r[kept] &&
		    code->r[r] != from->r[kept])
			return false;
	}
	return true;
}

static void compare_interrupted(struct rules_image *rules, uintptr_t pc,
				struct tally *t)
{
	struct arch_regs from, table, code;
	bool is_signal = false;
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		from.r[r] = start_value(r);
	from.r[ARCH_REG_PC] = pc;
	table = code = from;
	if (rules_step_full(rules, &table, true, &is_signal, read_any, NULL) ||
	    is_signal)
		return;
	t->calls++;
	if (prologue_step(rules, &code, true, read_any, NULL,
			  &(bool){ false }))
		t->unknown++;
	else if (is_same_step(&from, &table, &code))
		t->same++;
	else
		t->different++;
}

/* This program's own code, at each instruction. */
static void against_tables_everywhere(void **unused)
{
	struct tally t = { 0 };
	struct rules_image *rules;
	uintptr_t at;

	(void)unused;
	rules = rules_at((uintptr_t)against_tables_everywhere);
	for (at = rules->text_start; at < rules->text_end; at += ARCH_INSTRUCTION)
		compare_interrupted(rules, at, &t);
	print_message("at %u instructions, %u unknown, %u same, %u different\n",
		      t.calls, t.unknown, t.same, t.different);
	assert_true(t.calls > CALLS_LEAST);
	assert_true(10000 * t.different <= DIFFERENT_MOST_INSIDE * t.calls);
	assert_true(100 * t.unknown < UNKNOWN_MOST_INSIDE * t.calls);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_tables),
#if ALIGNS
		cmocka_unit_test(stacks_that_are_aligned),
		cmocka_unit_test(stacks_that_are_aligned_where_signals_come),
#endif
#if HAS_ROWS_EVERYWHERE
		cmocka_unit_test(against_tables_everywhere),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
