/* test_radix.c: from address to the number stored last around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/base/radix.h"

enum { PAGE = 1 << 16 };

static void start(void)
{
	builder_alloc_left = -1;
	unwind_alloc = builder_alloc;
	radix_init();
}

static void test_pages(void **unused)
{
	static const uintptr_t places[] = {
		0, PAGE, UINT64_C(0xffffffff0000), 0x400000,
		UINT64_C(0x555555550000), UINT64_C(0x7ffff7ff0000),
		ARCH_ADDRESS_MAX & ~(PAGE - 1ul),
	};
	unsigned int i, n = sizeof(places) / sizeof(places[0]);

	(void)unused;
	start();
	for (i = 0; i < n; i++)
		radix_store(places[i] + i, (uint16_t)(i + 1));
	for (i = 0; i < n; i++) {
		unsigned int want = places[i] > ARCH_ADDRESS_MAX ? 0 : i + 1;

		assert_int_equal(radix_find(places[i]), want);
		assert_int_equal(radix_find(places[i] + PAGE - 1), want);
	}
	assert_int_equal(radix_find(0x3fffff), 0);
	assert_int_equal(radix_find(0x410000), 0);
	assert_int_equal(radix_find(UINTPTR_MAX), 0);
	radix_store(0x400001, 65535);
	assert_int_equal(radix_find(0x400000), 65535);
	radix_init();
	assert_int_equal(radix_find(0x400000), 0);
}

static void test_no_memory(void **unused)
{
	(void)unused;
	start();
	builder_alloc_left = 1;
	radix_init();
	radix_store(0x400000, 1);	/* no leaf */
	assert_int_equal(radix_find(0x400000), 0);
	builder_alloc_left = 0;
	radix_init();
	radix_store(0x400000, 1);
	assert_int_equal(radix_find(0x400000), 0);
	builder_alloc_left = -1;
}

static void test_broken(void **unused)
{
	(void)unused;
	start();
	assert_true(radix_is_valid(0));
	radix_store(0x400000, 3);
	assert_true(radix_is_valid(3));
	/* of an image that there is not */
	assert_false(radix_is_valid(2));
	radix_init();
	assert_true(radix_is_valid(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
