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
#include "unwind/rules_image.h"

#define CALLS_LEAST 1000

struct tally {
	unsigned calls, unknown, same, different;
};

/* Where a frame ends and returns by, as words that can be compared: whether
 * both rules lead there from the same registers. */
static bool is_same(struct rule a, struct rule b)
{
	return a.kind == b.kind && a.base == b.base &&
	       a.cfa_off == b.cfa_off && a.fp_off == b.fp_off &&
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

static struct tally all_calls(const char *library, const char *symbol)
{
	void *handle = dlopen(library, RTLD_NOW);
	const struct image *image;
	struct tally t = { 0, 0, 0, 0 };
	struct rules_image *rules;
	uintptr_t at;

	assert_non_null(handle);
	image = image_find((uintptr_t)dlsym(handle, symbol));
	assert_non_null(image);
	rules = image_rules(image);
	assert_non_null(rules);
	for (at = rules->text_start + ARCH_CALL_MAX; at < rules->text_end;
	     at += ARCH_INSTRUCTION)
		compare(rules, at, &t);
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
	assert_int_equal(cxx.different, 0);
	if (ARCH_DECODES)
		assert_true(100 * (c.unknown + cxx.unknown) <
			    c.calls + cxx.calls);
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
