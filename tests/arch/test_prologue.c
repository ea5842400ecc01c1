/*
 * test_prologue.c: what the code tells about frames, against what tables say, at
 * each call of libraries that have both. Where a port's instructions are not
 * followed (ARCH_DECODES) nothing is ever found.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tests/unit/unwind_embed.h"
#include "unwind/image.h"
#include "unwind/prologue.h"
#include "unwind/rules_index.h"
#include "decode.h"

#define CALLS_LEAST 1000
/* In a hundred. Where code is followed onward only, what is behind calls that
 * never return is not known; and where such a call is not the last one, as where
 * exceptions are passed on, another function's end may be met. Code that throws
 * has tables always. */
#define UNKNOWN_MOST (ARCH_DECODES_BACK ? 3 : 23)
#define DIFFERENT_MOST (ARCH_DECODES_BACK ? 0 : 2)	/* in C++ */

struct tally {
	unsigned calls, unknown, same, different;
};

/* Where a frame ends and returns by, as words that can be compared. If both
 * count as much, one from sp and one from fp, the two are the same there; and so
 * they may be if fp is where it was saved, and both say that. */
static bool is_same(struct rule a, struct rule b)
{
	bool beside = a.base == RULE_BASE_FP && b.base == RULE_BASE_SP &&
		      a.cfa_off == -a.fp_off * ARCH_WORD;

	return (a.cfa_off == b.cfa_off || beside) && a.fp_off == b.fp_off &&
	       arch_rule_ra_offset(a.fp_off, a.ra) ==
		       arch_rule_ra_offset(b.fp_off, b.ra);
}

static void compare(struct rules_image *image, uintptr_t ra, struct tally *t)
{
	uint16_t table = rules_find(image, ra - 1), code;

	if (!table || rules_dictionary[table].kind != RULE_FRAME ||
	    !arch_after_call(ra))
		return;
	t->calls++;
	code = prologue_find(image, ra);
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

static struct tally all_calls(const char *library, const char *symbol)
{
	void *handle = dlopen(library, RTLD_NOW);
	const struct image *image;
	struct tally t = { 0, 0, 0, 0 };
	struct rules_image *rules;
	uintptr_t at, end;

	assert_non_null(handle);
	image = image_find((uintptr_t)dlsym(handle, symbol));
	assert_non_null(image);
	rules = image_rules(image);
	assert_non_null(rules);
	for (at = rules->text_start; at < rules->text_end; at = end) {
		uintptr_t start = at;

		end = rules->text_end;
		rules_index_code(rules, at, &start, &end);
		calls_in(rules, at, end, &t);
	}
	print_message("%s: %u calls, %u unknown, %u same, %u different\n", library,
	       t.calls, t.unknown, t.same, t.different);
	return t;
}

static void against_tables(void **unused)
{
	struct tally c, cxx;

	(void)unused;
	assert_int_equal(embed_init(CAPTURE_AUTO, false), 0);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
