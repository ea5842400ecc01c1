/*
 * test_rules.c: from pc to rule, over tables written here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rules_builder.h"

static void test_frames(void **unused)
{
	(void)unused;
	start();
	FDE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x44, 0x83, 3, 0x5c, 0x0c,
	    7, 8, 0xc6, 0x41, 0x08, 6, 0x0e, 24, 0x41, 0x07, 6, 0x0e, 32);
	put_fde(&b, cie, CODE + 0x200, 16);
	seal();
	is(0, RULE_FRAME, RULE_BASE_SP, 8, 0);
	is(1, RULE_FRAME, RULE_BASE_SP, 16, -2);
	is(3, RULE_FRAME, RULE_BASE_SP, 16, -2);
	is(4, RULE_FRAME, RULE_BASE_FP, 16, -2);
	is(20, RULE_FRAME, RULE_BASE_FP, 16, -2);
	is(36, RULE_FRAME, RULE_BASE_SP, 8, 0);
	is(37, RULE_FRAME, RULE_BASE_SP, 24, 0);
	is(38, RULE_FRAME, RULE_BASE_SP, 32, 0);
	is(255, RULE_FRAME, RULE_BASE_SP, 32, 0);
	assert_int_equal(rules_find(image, CODE + 256), 0);
	is(0x200, RULE_FRAME, RULE_BASE_SP, 8, 0);
	assert_int_equal(rules_find(image, CODE + 0x210), 0);
	assert_int_equal(rules_find(image, CODE - 1), 0);
	assert_int_equal(rules_find(image, CODE + CODE_SIZE), 0);
}

/* gcc: push the word at r10 - 8; rbp on top of it; r10 saved below. */
static void test_realigned(void **unused)
{
	(void)unused;
	start();
	FDE(0x45, 0x0c, 10, 0, 0x57, 0x10, 6, 2, 0x76, 0, 0x42, 0x0f, 3, 0x76,
	    0x78, 0x06, 0x48, 0x10, 6, 2, 0x76, 0x10, 0x48, 0x10, 6, 2, 0x76,
	    0x11, 0x48, 0x86, 2, 0x48, 0xc6);
	seal();
	kind_is(0, RULE_FRAME);
	kind_is(5, RULE_COMPLEX);
	kind_is(28, RULE_COMPLEX);
	is(30, RULE_DEREF, RULE_BASE_FP, -8, 0);
	is(37, RULE_DEREF, RULE_BASE_FP, -8, 0);
	is(38, RULE_DEREF, RULE_BASE_FP, -8, 2);
	kind_is(46, RULE_COMPLEX);	/* at no whole word */
	kind_is(54, RULE_COMPLEX);	/* fp counted from the CFA */
	kind_is(62, RULE_COMPLEX);	/* fp kept */
}

static void test_plt(void **unused)
{
	(void)unused;
	start();
	FDE(0x0e, 16, 0x46, 0x0e, 24, 0x4a, 0x0f, 11, ARCH_PLT_EXPRESSION,
	    0x50, 0x86, 2, 0x50, 0xc6, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
	    0x3a, 0x2a, 0x33, 0x24, 0x22);
	seal();
	is(0, RULE_FRAME, RULE_BASE_SP, 16, 0);
	is(16, RULE_PLT, RULE_BASE_SP, 8, 0);
	is(32, RULE_PLT, RULE_BASE_SP, 8, -2);
	kind_is(48, RULE_COMPLEX);	/* another place in the entry */
}

/* What no plain walk could do. */
static void test_complex(void **unused)
{
	static const uint8_t programs[][12] = {
		{ 0x0c, 10, 8 },		/* CFA by r10 */
		{ 0x90, 2 },			/* pc elsewhere */
		{ 0x09, 16, 0 },		/* pc in rax */
		{ 0x14, 16, 1 },		/* pc is an address */
		{ 0x10, 16, 2, 0x77, 0x78 },
		{ 0x86, 0 },			/* fp at the CFA itself */
		{ 0x2f, 6, 0x80, 0x80, 0x04 },	/* fp too far */
		{ 0x09, 6, 3 },			/* fp in rbx */
		{ 0x14, 6, 2 },
		{ 0x16, 6, 2, 0x77, 0 },
		{ 0x10, 6, 2, 0x76, 0 },
		{ 0x87, 2 },			/* sp saved */
		{ 0x16, 7, 2, 0x77, 0 },
		{ 0x08, 7 },
		{ 0x0c, 7, 0xff, 0xff, 0xff, 0xff, 0x0f },
		{ 0x0f, 2, 0x77, 8 },
	};
	size_t i, n = sizeof(programs) / sizeof(programs[0]);

	(void)unused;
	start();
	for (i = 0; i < n; i++) {
		begin_fde(&b, cie, CODE + i * 16, 16);
		put(&b, programs[i], sizeof(programs[i]));
		end_record(&b);
	}
	/* Unusual, but the same as the usual. */
	begin_fde(&b, cie, CODE + n * 16, 16);
	PROGRAM(&b, 0x14, 7, 0);
	end_record(&b);
	seal();
	for (i = 0; i < n; i++)
		kind_is(i * 16, RULE_COMPLEX);
	kind_is(n * 16, RULE_FRAME);
}

static void test_end_and_bad(void **unused)
{
	static const uint8_t fde_encoding = ENC_ABS8;

	(void)unused;
	start();
	FDE(0x41, 0x07, 16, 0x41, 0x3f);
	cie = begin_cie(&b, "zR", &fde_encoding, 1);
	end_record(&b);
	put_fde(&b, cie, CODE + 0x100, 16);	/* no CFA at all */
	seal();
	kind_is(0, RULE_FRAME);
	kind_is(1, RULE_END);
	kind_is(2, RULE_BAD);
	kind_is(255, RULE_BAD);
	kind_is(0x100, RULE_BAD);
}

static void test_signal_frames(void **unused)
{
	static const uint8_t encoding = ENC_ABS8;

	(void)unused;
	start();
	cie = begin_cie(&b, "zRS", &encoding, 1);
	end_record(&b);
	FDE(SIGNAL_ROW(0xa8));
	begin_fde(&b, cie, CODE + 0x100, 16);
	PROGRAM(&b, SIGNAL_ROW(0xb0));	/* pc elsewhere */
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x180, 16);
	PROGRAM(&b, SIGNAL_ROW(0xa8), 0x10, 7, 3, 0x77, 0xa8, 1);
	end_record(&b);
	/* A plain row leads right, but not to a return address. */
	begin_fde(&b, cie, CODE + 0x200, 16);
	PROGRAM(&b, 0x0c, 7, 8, 0x90, 1);
	end_record(&b);
	cie = put_cie(&b, "zR", ENC_ABS8);	/* not marked */
	begin_fde(&b, cie, CODE + 0x300, 16);
	PROGRAM(&b, SIGNAL_ROW(0xa8));
	end_record(&b);
	seal();
	kind_is(0, RULE_SIGNAL);
	kind_is(0x100, RULE_COMPLEX);
	kind_is(0x180, RULE_COMPLEX);	/* sp elsewhere */
	kind_is(0x200, RULE_COMPLEX);
	kind_is(0x300, RULE_COMPLEX);
}

/* The dictionary: equal rules have one number, and a full one still serves. */
static void test_dictionary(void **unused)
{
	struct rule rule = { .kind = RULE_FRAME };
	uint32_t i, before;

	(void)unused;
	start();
	assert_int_equal(rules_dictionary[0].kind, RULE_NONE);
	assert_int_equal(rules_dictionary[RULE_DICTIONARY_BAD].kind, RULE_BAD);
	assert_int_equal(rules_dictionary[RULE_DICTIONARY_COMPLEX].kind,
			 RULE_COMPLEX);
	/* The hash grows with what it holds. */
	assert_true(rule_dictionary_bytes() < 1024);
	before = rules_count();
	for (i = 0; i < 20000; i++) {
		uint16_t id;

		rule.cfa_off = (int32_t)(i % 10000) * 8;
		id = rule_dictionary_id(rule);
		assert_memory_equal(&rules_dictionary[id], &rule, 8);
	}
	assert_int_equal(rules_count(), before + 10000);
	for (i = 0; i < 100000; i++) {
		rule.cfa_off = (int32_t)i * 8;
		rule.fp_off = -2;
		rule_dictionary_id(rule);
	}
	assert_true(rules_count() <= RULES_MAX);
	rule.cfa_off = -8;
	assert_int_equal(rule_dictionary_id(rule), RULE_DICTIONARY_COMPLEX);
	rule.cfa_off = 16;
	assert_memory_equal(&rules_dictionary[rule_dictionary_id(rule)], &rule,
			    8);
}

/* A pc's rule does not depend on what was asked before, nor on the lock. */
static void test_order(void **unused)
{
	enum { SPAN = 0x200 };
	uint16_t first[SPAN];
	unsigned int i, round;
	size_t bytes;

	(void)unused;
	start();
	begin_fde(&b, cie, CODE, SPAN - 16);
	PROGRAM(&b, 0x41, 0x0e, 16, 0x02, 0xa0, 0x0e, 24);
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x40, 0x20);
	PROGRAM(&b, 0x0e, 32, 0x44, 0x0e, 40);
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x48, 0x100);
	PROGRAM(&b, 0x0e, 48, 0x02, 0x90, 0x0e, 56);
	end_record(&b);
	seal();
	bytes = rules_bytes();
	assert_true(granule_try_lock());
	for (i = 0; i < SPAN; i++)
		first[i] = rules_find(image, CODE + i);
	assert_true(rules_bytes() - bytes < 256);	/* rules, no rows */
	granule_unlock();
	for (round = 0; round < SPAN; round += 37) {
		seal();
		for (i = 0; i < SPAN; i++) {
			unsigned int at = (round + i * 197) % SPAN;

			assert_int_equal(rules_find(image, CODE + at),
					 first[at]);
		}
	}
	assert_int_equal(rules_dictionary[first[0x47]].cfa_off, 40);
	assert_int_equal(rules_dictionary[first[0x48]].cfa_off, 48);
	assert_int_equal(rules_dictionary[first[0x148]].cfa_off, 24);
	assert_int_equal(first[SPAN - 16], 0);
}

/* That there is no rule is kept, too, just as far as it holds. */
static void test_gaps(void **unused)
{
	uint64_t pc;
	uint16_t id = 1;

	(void)unused;
	start();
	put_fde(&b, cie, CODE + 0x1000, 0x100);
	put_fde(&b, cie, CODE + 0x1180, 0x10);
	seal();
	assert_false(granule_find(&image->granules, CODE + 0x1110, &id));
	assert_int_equal(rules_find(image, CODE + 0x1110), 0);
	for (pc = CODE + 0x1000; pc < CODE + 0x1200; pc++) {
		bool gap = pc >= CODE + 0x1100 && pc < CODE + 0x1180;

		id = 1;
		assert_int_equal(granule_find(&image->granules, pc, &id), gap);
		assert_int_equal(id, !gap);
	}
	kind_is(0x1000, RULE_FRAME);
	kind_is(0x1180, RULE_FRAME);
	/* Before the first FDE, and after the last. */
	assert_int_equal(rules_find(image, CODE), 0);
	assert_int_equal(rules_find(image, CODE + 0x1190), 0);
	for (pc = CODE; pc < CODE + GRANULE_PAGE_BYTES; pc++)
		assert_true(granule_find(&image->granules, pc, &id));
	kind_is(0x1000, RULE_FRAME);
	kind_is(0x118f, RULE_FRAME);
	assert_int_equal(rules_find(image, CODE + GRANULE_PAGE_BYTES), 0);
}

static void test_no_memory(void **unused)
{
	long allowed;

	(void)unused;
	for (allowed = 0; allowed < 6; allowed++) {
		struct rules_sections sections;

		start();
		FDE(0x41, 0x0e, 16);
		sections = builder_sections(&b);
		builder_alloc_left = allowed;
		if (allowed < 2) {
			assert_int_equal(rules_init(), -ENOMEM);
			continue;
		}
		assert_int_equal(rules_init(), 0);
		image = rules_image_new(&sections);
		if (allowed == 2) {
			assert_null(image);
			continue;
		}
		is(0, RULE_FRAME, RULE_BASE_SP, 8, 0);
		is(1, RULE_FRAME, RULE_BASE_SP, 16, 0);
	}
}

static void test_broken_dictionary(void **unused)
{
	(void)unused;
	start();
	rule_dictionary_id((struct rule){ .kind = RULE_FRAME, .cfa_off = 16 });
	assert_true(rule_dictionary_is_valid());
	rules_dictionary[RULE_DICTIONARY_BAD].kind = RULE_NONE;
	assert_false(rule_dictionary_is_valid());
	rules_dictionary[RULE_DICTIONARY_BAD].kind = RULE_BAD;
	rules_dictionary[0].kind = RULE_BAD;
	assert_false(rule_dictionary_is_valid());
	rules_dictionary[0].kind = RULE_NONE;
	assert_true(rule_dictionary_is_valid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_complex),
		cmocka_unit_test(test_end_and_bad),
		cmocka_unit_test(test_signal_frames),
		cmocka_unit_test(test_dictionary),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_broken_dictionary),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
