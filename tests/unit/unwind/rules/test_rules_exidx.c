/*
 * test_rules_exidx.c: rules from an .ARM.exidx section made by hand, where images
 * of the architecture have one; elsewhere it is not read.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_exidx.h"

#define ENTRIES 3

/* Of a function: push {r7, lr} and 8 bytes more; nothing; push {lr}. */
static const uint32_t programs[ENTRIES] = { 0x80018408, 0x00000001,
					    0x808400b0 };
static uint32_t tables[2 * ENTRIES];
static uint32_t stack[] = { 1, 2, 0x7777, 0x5551, 5, 6 };

static struct rules_image *make(void)
{
	uintptr_t at = (uintptr_t)tables;
	struct rules_sections s = {
		.text_start = CODE, .text_end = CODE + 0x1000,
		.exidx = at, .exidx_size = sizeof(tables),
		.segments = 1, .segment = { { at, at + sizeof(tables) } },
	};
	unsigned i;

	for (i = 0; i < ENTRIES; i++) {
		uintptr_t place = (uintptr_t)&tables[2 * i];

		tables[2 * i] = (uint32_t)(CODE + 0x100 * (i + 1) - place) &
				0x7fffffff;
		tables[2 * i + 1] = programs[i];
	}
	unwind_alloc = builder_alloc;
	assert_int_equal(rules_init(), 0);
	return rules_image_new(&s);
}

static bool read_stack(void *ctx, uintptr_t address, uint64_t *value)
{
	uintptr_t first = (uintptr_t)stack;

	(void)ctx;
	if (address < first || address > first + sizeof(stack) - ARCH_WORD)
		return false;
	*value = 0;
	memcpy(value, (const void *)address, ARCH_WORD);
	return true;
}

static void test_rules(void **unused)
{
	struct rules_image *image = make();
	struct rule rule;
	uint16_t id;

	(void)unused;
	assert_non_null(image);
	id = rules_find(image, CODE + 0x180);
	if (!ARCH_ELF_EXIDX) {
		assert_int_equal(id, 0);
		return;
	}
	rule = rules_dictionary[id];
	assert_int_equal(rule.kind, RULE_FRAME);
	assert_int_equal(rule.base, RULE_BASE_SP);
	assert_int_equal(rule.cfa_off, 16);
	assert_int_equal(rule.fp_off, -2);
	assert_int_equal(rules_find(image, CODE + 0x1ff), id);
	/* before the first; of one that cannot be unwound */
	assert_int_equal(rules_find(image, CODE + 0xff), 0);
	assert_int_equal(rules_find(image, CODE + 0x200), 0);
	assert_int_equal(rules_find(image, CODE + 0x1000), 0);
}

static void test_step(void **unused)
{
	struct rules_image *image = make();
	struct arch_regs regs = { { 0 } };
	bool is_signal = false;

	(void)unused;
	if (!ARCH_ELF_EXIDX)
		return;
	regs.r[ARCH_REG_PC] = CODE + 0x180;
	regs.r[ARCH_REG_SP] = (uintptr_t)stack;
	assert_int_equal(rules_step_full(image, &regs, true, &is_signal,
					 read_stack, NULL), 0);
	assert_int_equal(regs.r[ARCH_REG_PC], 0x5551);
	assert_int_equal(regs.r[ARCH_REG_FP], 0x7777);
	assert_int_equal(regs.r[ARCH_REG_SP], (uintptr_t)(stack + 4));
	assert_false(is_signal);
	regs.r[ARCH_REG_PC] = CODE + 0x280;
	assert_int_equal(rules_step_full(image, &regs, true, &is_signal,
					 read_stack, NULL), -ENOENT);
	regs.r[ARCH_REG_PC] = CODE + 0x180;
	regs.r[ARCH_REG_SP] = (uintptr_t)(stack + 4);
	assert_int_equal(rules_step_full(image, &regs, true, &is_signal,
					 read_stack, NULL), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
