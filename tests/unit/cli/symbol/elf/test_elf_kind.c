/*
 * test_elf_kind.c: what traces call processors, and which files are for them.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/symbol/elf/elf_kind.h"

static void names(void **state)
{
	struct elf_kind kind = elf_kind_named("aarch64", 8, "little");

	(void)state;
	assert_int_equal(kind.machine, EM_AARCH64);
	assert_true(kind.wide && !kind.big);
	kind = elf_kind_named("mips64", 8, "big");
	assert_int_equal(kind.machine, EM_MIPS);
	assert_true(kind.wide && kind.big);
	kind = elf_kind_named("mips64el", 8, "little");
	assert_int_equal(kind.machine, EM_MIPS);
	assert_false(kind.big);
	kind = elf_kind_named("arm", 4, "little");
	assert_int_equal(kind.machine, EM_ARM);
	assert_false(kind.wide || kind.big);
	/* of traces before either was said */
	kind = elf_kind_named("x86_64", 8, NULL);
	assert_int_equal(kind.machine, EM_X86_64);
	assert_true(kind.wide && !kind.big);
	assert_int_equal(elf_kind_named("vax", 4, "little").machine, 0);
	assert_int_equal(elf_kind_named(NULL, 8, NULL).machine, 0);
}

static void who_agrees(void **state)
{
	struct elf_kind little = elf_kind_named("mips64el", 8, "little");
	struct elf_kind big = elf_kind_named("mips64", 8, "big");
	struct elf_kind narrow = { EM_MIPS, false, false, 0 };
	struct elf_kind other = elf_kind_named("x86_64", 8, "little");
	struct elf_kind unknown = { 0 };

	(void)state;
	assert_true(elf_kind_agree(&little, &little));
	assert_false(elf_kind_agree(&little, &big));
	assert_false(elf_kind_agree(&little, &narrow));
	assert_false(elf_kind_agree(&little, &other));
	assert_true(elf_kind_agree(&unknown, &big));
	assert_true(elf_kind_agree(&other, &unknown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(who_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
