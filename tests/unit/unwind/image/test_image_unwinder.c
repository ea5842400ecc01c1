/* test_image_unwinder.c: images that may have an unwinder of their own inside. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "arch.h"
#include "unwind/elf/elfmap.h"
#include "unwind/image/image_kind.h"

/* This program, the first that is listed, under another name. It imports
 * dl_iterate_phdr, as LLVM's unwinder does where it is linked into an image. */
static int take_verdict(struct dl_phdr_info *info, size_t size, void *data)
{
	static const struct {
		const char *path;
		bool may_hide_one;
	} cases[] = {
		{ "", true },
		{ "/x/libplugin.so", true },
		{ "/x/libgcc_s.so.1", false },
		{ "/x/libgnomon.so", false },
	};
	unsigned i;

	(void)size;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elfmap map = { .bias = info->dlpi_addr,
				      .path = cases[i].path,
				      .phdr = info->dlpi_phdr,
				      .phnum = info->dlpi_phnum };
		enum gt_mode_why wanted =
			ARCH_ELF_EXIDX && cases[i].may_hide_one ?
				GT_WHY_UNWINDER : GT_WHY_DEFAULT;

		assert_int_equal(image_kind_of(&map).forbidden_why, wanted);
	}
	*(unsigned *)data = i;
	return 1;
}

static void test_hidden_unwinder(void **unused)
{
	unsigned seen = 0;

	(void)unused;
	dl_iterate_phdr(take_verdict, &seen);
	assert_int_equal(seen, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hidden_unwinder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
